#!/bin/bash
# Names of JIT code are kept: without the files in /tmp, of killed processes, by time, of Node
. "$(dirname "$0")/lib.sh"
need root bpf perf fake_cuda

export HOME=$TMP # of perf's build-id cache

record_options=()

# record_jit ARGUMENTS...: leaves nothing of what the program told profilers
record_jit()
{
	run_fake "$PERF_GPU" record -q "${record_options[@]}" "$WORKLOADS/jit" "$@" >jit.out 2>record.err
	pid=$(awk '{ print $2 }' jit.out)
	address=$(awk '{ print $3 }' jit.out)
	rm -rf "/tmp/perf-$pid.map" "jit-$pid.dump"
}

# "NUMBER NAME" of the frames in JIT code, in the order they come, on standard input
jit_frames()
{
	awk '/jit_|\[unknown\]/ { print $2 }' | uniq -c | awk '{ print $1, $2 }' | xargs
}
ours()
{
	"$PERF_GPU" script -F ip,sym 2>err | jit_frames
}
of_perf()
{
	"$PERF_GPU" inject -q && perf script -i perf.gpu.data -F ip,sym 2>perf.err | jit_frames
}

# named WHAT WANTED ARGUMENTS...
named()
{
	local what=$1 wanted=$2
	shift 2

	record_jit "$@"
	expect "$what: names" "$wanted" "$(ours)"
	expect "$what: the same for perf" "$wanted" "$(of_perf)"
	# But that it was killed, where it was.
	expect "$what: nothing is said about" "" "$(grep -v 'process did not end in order' err)"
}

second="200 jit_second"
both="100 jit_first 100 jit_second"
named "a map" "$second" -m
named "a map that the program removes" "$second" -m -x remove
named "a map that tells late" "$second" -m -x late
named "a map with garbage in it" "$second" -m -x garbage
named "a dump" "$both" -d
named "a dump and a map" "$both" -m -d
named "a dump that tells late" "$both" -d -x late

# The library writes every second: what comes then is left to the recorder.
named "a killed process's map" "$second" -m -l -e kill
named "a killed process's map of the last moment" "$second" -m -l -x late -e kill
named "a killed process's dump" "$both" -d -l -e kill
named "a killed process's dump of the last moment" "$both" -d -l -x late -e kill
named "a process that ends at once" "$second" -m -l -x late -e _exit

record_options=(--stacks process)
named "a map, without the kernel" "$second" -m
named "a killed process's dump, without the kernel" "$both" -d -l -x late -e kill
record_options=()

# --- the whole stack ---------------------------------------------------------------------

record_jit -m -n 1
expect "the stack goes on behind JIT code" \
	"[GPU_Kernel]plain_kernel() cudaLaunchKernel plain_kernel__launch launch jit_second run main _start" \
	"$("$PERF_GPU" script -F ip,sym | awk '!NF && nr { exit } NF { nr++; print $2 }' | grep -v libc | sed 's/\..*//' | xargs)"
"$PERF_GPU" inject -q
expect_match "perf report has the names" ' jit_second' \
	"$(perf report -i perf.gpu.data --stdio --children -g none 2>/dev/null)"

# --- not what others say -------------------------------------------------------------------

unknown="200 [unknown]"
record_jit -m
echo "$address 1000 jit_another" >"/tmp/perf-$pid.map"
expect "a later process of the same pid" "$second" "$(ours)"
rm "/tmp/perf-$pid.map"

record_jit -n 100
echo "$address 1000 jit_another" >"/tmp/perf-$pid.map"
touch -d "@$(($(date +%s) + 3600))" "/tmp/perf-$pid.map"
expect "nothing was told, and a file is newer than the recording" "$unknown" "$(ours)"
touch -r perf.data "/tmp/perf-$pid.map"
expect "a file that can be of then" "200 jit_another" "$(ours)"
chown 12345 "/tmp/perf-$pid.map"
expect "a file of another user" "$unknown" "$(ours)"
rm "/tmp/perf-$pid.map"

for what in link fifo; do
	named "a map that is a $what" "$unknown" -m -x $what -l -e kill
done

# --- Node ----------------------------------------------------------------------------------

# record_node OPTION ARGUMENTS...
record_node()
{
	local option=$1
	shift

	run_fake "$PERF_GPU" record -q node "$option" --interpreted-frames-native-stack \
		"$TESTS/workloads/node_step.js" "$WORKLOADS/node_launch.node" "$@" >node.out
	pid=$(awk '{ print $2 }' node.out)
}

# One line: how many samples, with train() of the script, with its top level, to _start
node_stacks()
{
	awk '
		/gpu-kernel/ { nr++; train = top = start = 0 }
		/ JS:[~^*]train .*node_step.js/ { train = 1 }
		/ JS:[~^*] .*node_step.js/ { top = 1 }
		/ _start\+/ { start = 1 }
		/^$/ { nr_train += train; nr_top += top; nr_start += start }
		END { print nr, nr_train, nr_top, nr_start }'
}

if has node; then
	for option in --perf-basic-prof --perf-prof; do
		record_node $option 20000
		mv "/tmp/perf-$pid.map" . 2>/dev/null
		mv "jit-$pid.dump" kept.dump 2>/dev/null
		expect "Node $option: stacks are whole" "20000 20000 20000 20000" \
			"$("$PERF_GPU" script | node_stacks)"
		"$PERF_GPU" inject -q
		expect "Node $option: for perf too" "20000 20000 20000 20000" \
			"$(perf script -i perf.gpu.data 2>perf.err | node_stacks)"
		expect_match "Node $option: step() is there before it is compiled" ' JS:~step .*node_step.js:[0-9]+' \
			"$("$PERF_GPU" script -F ip,sym)"
		expect_match "Node $option: and train() after it" ' JS:[*]train ' \
			"$("$PERF_GPU" script -F ip,sym)"
	done
	record_node --perf-basic-prof 100 large
	size=$(stat -c %s "/tmp/perf-$pid.map")
	kept=$(stat -c %s perf.data.gpu)
	check "a map of $size bytes is kept in $kept" [ "$kept" -lt $((size / 4)) ]
	rm "/tmp/perf-$pid.map"
else
	skip_one "Node" "$(why_not node)"
fi
