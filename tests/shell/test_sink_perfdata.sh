#!/bin/bash
# What inject writes is read by stock perf and by hotspot's parser, without complaints.
#
# The file comes from the unit test of the sink: no root, GPU or recording is needed.

# shellcheck source=tests/shell/lib.sh
. "$(dirname "$0")/lib.sh"
need perf

export HOME=$TMP # of perf's build-id cache
export DEBUGINFOD_URLS=
writer=$O/tests/unit/test_sink_perfdata
gpu=$TMP/gpu
mkdir "$gpu"

report()
{
	perf report --stdio -i "$gpu/out" --no-children -g none -s comm,dso,sym
}

# A report's lines, without its comments
lines()
{
	sed '/^#/d; /^ *$/d; s/ *$//'
}

check "the recording is written" env KEEP_DIR="$gpu" "$writer" write_for_perf

shares="    60.00%  worker   [GPU_Kernel]   [.] [GPU_Kernel]void ns::sgemm<float, 4>(float*)
    30.00%  worker   [GPU_Kernel]   [.] [GPU_Kernel](anonymous namespace)::a(int)
    10.00%  :4721    [GPU_Kernel]   [.] [GPU_Kernel]k"

check_status "perf report reads it" 0 report
expect "and says nothing else" "" "$(cat err)"
expect "kernels have their shares of GPU time" "$shares" "$(lines <out)"
expect_match "in nanoseconds" '^# Event count \(approx\.\): 100000000$' "$(cat out)"

check_status "perf script reads it" 0 perf script -i "$gpu/out" -F comm,tid,period,event,ip,sym,dso
expect "and says nothing else" "" "$(cat err)"
expect "a stack goes from the kernel to the code that launched it" \
	"worker  4712    6000000 gpu-kernel:
[GPU_Kernel]void ns::sgemm<float, 4>(float*) ($gpu/out.dso/[GPU_Kernel])
cudaLaunchKernel ($gpu/out.dso/[GPU_Kernel])
launch_from_here ($writer)" \
	"$(head -n 4 out | sed -E 's/^\s+[0-9a-f]+ //; s/ +$//')"

check_status "perf annotate doesn't fail" 0 perf annotate --stdio -i "$gpu/out"
expect_match "perf annotate shows the kernel" 'Disassembly of \[GPU_Kernel\]' "$(cat out)"
expect "and says nothing else" "" "$(cat err)"

check_status "perf evlist reads it" 0 perf evlist -v -i "$gpu/out"
expect_match "the event is gpu-kernel" \
	'^gpu-kernel: type: 1, .*sample_type: IP\|TID\|TIME\|CALLCHAIN\|CPU\|PERIOD\|IDENTIFIER' \
	"$(cat out)"

check_status "perf buildid-list reads it" 0 perf buildid-list -i "$gpu/out"
if has readelf; then
	build_id=$(readelf -n "$gpu/out.dso/[GPU_Kernel]" | sed -n 's/ *Build ID: //p')
	expect_match "and has the build id of the file" \
		"^$build_id .*/out.dso/\[GPU_Kernel\]$" "$(cat out)"
else
	skip_one "and has the build id of the file" "readelf isn't installed"
fi

# The names are found by build id once the file is gone from its place.
check "the file can be put into perf's cache" perf buildid-cache -a "$gpu/out.dso/[GPU_Kernel]"
mv "$gpu/out.dso" "$gpu/moved"
expect "kernels keep their names then" "$shares" "$(report 2>/dev/null | lines)"
mv "$gpu/moved" "$gpu/out.dso"

parser=$(find /usr/lib* /usr/libexec -name hotspot-perfparser 2>/dev/null | head -n 1)
if [ -n "$parser" ]; then
	check "hotspot's parser reads it" "$parser" --input "$gpu/out" --output parsed
	for name in "[GPU_Kernel]void ns::sgemm<float, 4>(float*)" cudaLaunchKernel launch_from_here; do
		check "hotspot's parser knows $name" grep -aqF "$name" parsed
	done
else
	skip_one "hotspot's parser reads it" "hotspot isn't installed"
fi

# With --keep-cpu there is a second event.
check "the recording is written with another event" \
	env KEEP_DIR="$gpu" KEEP_OTHER=1 "$writer" write_for_perf
check_status "perf report reads both events" 0 report
expect "and says nothing else" "" "$(cat err)"
expect "kernels have the same shares" "$shares" "$(lines <out | grep -F '[GPU_Kernel]')"
expect_match "the other event has its own" '^ +100\.00% +app +\[unknown\] ' "$(cat out)"

# Sums come behind the samples of that event, and are from before them.
check "it is written with sums" \
	env KEEP_DIR="$gpu" KEEP_OTHER=1 AGGREGATE=1 "$writer" write_for_perf
check_status "perf report reads sums beside another event" 0 report
expect "and says nothing else" "" "$(cat err)"
expect "kernels have the same shares" "$shares" "$(lines <out | grep -F '[GPU_Kernel]')"
expect_match "the other event has its own" '^ +100\.00% +app +\[unknown\] ' "$(cat out)"
expect "there are three sums of ten kernels, and the other event's samples" \
	"3 30 4" "$(perf script -i "$gpu/out" -F event,weight 2>/dev/null |
		awk '/gpu-kernel/ { nr++; weight += $NF } !/gpu-kernel/ && NF { other++ }
			END { print nr, weight, other }')"

# --- all events, of a made recording -----------------------------------------------------

events=$TMP/events
mkdir "$events"
check "a recording with something of every event is written" \
	env KEEP_DIR="$events" "$O/tests/unit/test_source_events" write_for_perf
check "it is injected" "$PERF_GPU" inject -i "$events/in" -o "$events/out"
sums="gpu-kernel 2 1100
gpu-memcpy 1 300
gpu-memset 1 200
gpu-sync 1 950
gpu-launch 6 279
gpu-queue 2 3107
gpu-idle 2 600
gpu-alloc 2 4608
gpu-fault 2 65537"

check_status "perf evlist has an event for each" 0 perf evlist -i "$events/out"
expect "by their names" "$(cut -d ' ' -f 1 <<<"$sums")" "$(cat out)"
check_status "perf report reads all" 0 perf report --stdio -i "$events/out" --no-children -g none
expect "and says nothing else" "" "$(cat err)"
expect "perf report has a section for each, with its sum" "$sums" "$(awk '
	/^# Samples:/ { nr = $3; event = $NF; gsub("'\''", "", event) }
	/^# Event count/ { print event, nr, $NF }' out)"
check_status "perf script reads all" 0 perf script -i "$events/out"
expect "and says nothing else" "" "$(cat err)"
expect "perf script has the samples of each" "$(sort <<<"$sums")" "$(awk '
	/ gpu-[a-z]+: $/ { sub(":", "", $NF); nr[$NF]++; sum[$NF] += $(NF - 1) }
	END { for (event in nr) print event, nr[event], sum[event] }' out | sort)"
expect "perf-gpu script prints the same lines, in the same columns" "$(grep ' gpu-' out)" \
	"$("$PERF_GPU" script -q -i "$events/in" | grep ' gpu-')"
expect "and the same names" "$(sed -nE 's/^\s+[0-9a-f]+ (.*)\+0x20 \(.*/\1/p' out)" \
	"$("$PERF_GPU" script -q -i "$events/in" | sed -nE 's/^\s+[0-9a-f]+ (.*) \(\[GPU_Kernel\]\)/\1/p')"
if [ -n "$parser" ] && has python3; then
	check "hotspot's parser reads all" "$parser" --input "$events/out" --output parsed
	while read -r event nr sum; do
		expect "hotspot adds up $event" "$event $sum $nr" \
			"$(python3 -B "$TESTS/tools/hotspot_costs.py" --event "$event" parsed |
				awk -v event="$event" '{ sum += $1; nr += $2 } END { print event, sum, nr }')"
	done <<<"$sums"
else
	skip_one "hotspot's parser reads all" "hotspot and python3 aren't both installed"
fi
