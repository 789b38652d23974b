#!/bin/bash
# record --switch-output and --overwrite with stacks of the kernel's (fp, dwarf), and with names of JIT code
. "$(dirname "$0")/lib.sh"
. "$TESTS/shell/server_lib.sh"
need root bpf perf fake_cuda

export FAKE_CUDA_INSTANT=1 HOME=$TMP
server=$WORKLOADS/server
mkfifo server.in server.out
exec {out}<>server.out

# start OPTION...: the server is recorded, in the background
start()
{
	rm -rf perf.data*
	LD_LIBRARY_PATH=$FAKE_CUDA "$PERF_GPU" record -o perf.data "$@" -- "$server" -t 1 <server.in >server.out 2>err &
	recorder=$!
	exec {in}>server.in
	answer "$out" >ready
}

# Gives the server a command, and waits until it is done.
tell()
{
	echo "$1" >&"$in"
	expect "$what: $1" "done $1" "$(answer "$out")"
}

files()
{
	find . -maxdepth 1 | grep -xE "\./perf\.data\.[0-9]{16}" | sort
}

# Has another file written, and waits for it: a minute at most
switch()
{
	local nr

	nr=$(files | wc -l)
	kill -USR2 $recorder
	for _ in $(seq 600); do
		[ "$(files | wc -l)" -gt "$nr" ] && return
		sleep 0.1
	done
	fail "$what: another file comes"
}

# finish: the server ends, and the recorder
finish()
{
	exec {in}>&-
	wait $recorder
	expect "$what: status" 0 $?
}

# kernels FILE FUNCTION: "NUMBER NAME" of those that have it in their stacks
kernels()
{
	"$PERF_GPU" script -F ip,sym -i "$1" 2>script.err |
		awk -v wanted="$2" '
			NF == 0 { name = "" }
			$2 ~ /^\[GPU_Kernel\]/ { name = substr($2, 13) }
			name != "" && $2 == wanted { nr[name]++; name = "" }
			END { for (name in nr) print nr[name], name }' | sort -k 2 | xargs
}

# perf_stacks FILE FUNCTION: how many samples of what inject makes perf shows with it
perf_stacks()
{
	"$PERF_GPU" inject -q "${inject[@]}" -i "$1" -o injected.data &&
		perf script -i injected.data -F ip,sym 2>perf.err | awk -v wanted="$2" '
			NF == 0 { nr += has; has = 0 }
			$2 == wanted { has = 1 }
			END { print nr + has }'
}

for graph in fp dwarf; do
	inject=()
	[ $graph = fp ] || inject=(--unwind)
	what="$graph, several files"
	start --call-graph $graph --switch-output
	tell "one 100"
	switch
	tell "two 50"
	tell "graph g 10"
	switch
	# The graph was made before this file.
	tell "graph g 20"
	finish
	mapfile -t parts < <(files)
	expect "$what: there are three" 3 "${#parts[@]}"
	expect "$what: the first" "100 one" "$(kernels "${parts[0]}" serve)"
	expect "$what: the second" "50 two" "$(kernels "${parts[1]}" serve)"
	expect "$what: with its graph" "10 g 10 g-added" "$(kernels "${parts[1]}" serve_graph)"
	expect "$what: the third, with where its graph was made" "20 g 20 g-added" "$(kernels "${parts[2]}" make_graph)"
	expect "$what: perf has the same stacks" "100 50" \
		"$(perf_stacks "${parts[0]}" serve) $(perf_stacks "${parts[1]}" serve)"
	expect_no_match "$what: nothing is lost" 'warning|missing|unattributed' "$(cat err script.err)"

	what="$graph, the newest"
	start --call-graph $graph --switch-output --overwrite
	tell "one 100"
	switch
	tell "two 50"
	switch
	finish
	mapfile -t parts < <(files)
	expect "$what: the first snapshot" "100 one" "$(kernels "${parts[0]}" serve)"
	expect "$what: the second has that, too" "100 one 50 two" "$(kernels "${parts[1]}" serve)"
done

# --- names of JIT code -------------------------------------------------------------------------

# What a dump says has times; of a map the last name of an address holds, in each process.
what="JIT code"
rm -rf perf.data*
exec {out}>&-
LD_LIBRARY_PATH=$FAKE_CUDA "$PERF_GPU" record -o perf.data --switch-output -- \
	sh -c "'$WORKLOADS/jit' -d >jit.out; : >first; read -r go; '$WORKLOADS/jit' -m >>jit.out" <server.in >server.out 2>err &
recorder=$!
exec {in}>server.in {out}<server.out
for _ in $(seq 600); do
	[ -e first ] && break
	sleep 0.1
done
switch
echo go >&"$in"
finish
while read -r _ pid _; do
	rm -rf "/tmp/perf-$pid.map" "jit-$pid.dump"
done <jit.out
mapfile -t parts < <(files)

# "NUMBER NAME" of the frames in JIT code
jit_frames()
{
	"$PERF_GPU" script -F ip,sym -i "$1" 2>script.err | awk '/jit_|\[unknown\]/ { print $2 }' |
		sort | uniq -c | awk '{ print $1, $2 }' | xargs
}

expect "$what: the names of a dump are in the file of its process" "100 jit_first 100 jit_second" "$(jit_frames "${parts[0]}")"
expect "$what: those of a map, too" "200 jit_second" "$(jit_frames "${parts[1]}")"
