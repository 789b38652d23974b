#!/bin/bash
# Stock perf on what record and inject make of a real program: the shares, no complaint, the SDT note
. "$(dirname "$0")/lib.sh"
need root bpf perf fake_cuda nvcc python3

run_fake env FAKE_CUDA_DURATIONS="$TESTS/data/mini_llm.durations" \
	"$PERF_GPU" record -q "$WORKLOADS/mini_llm" -n 4 >/dev/null
"$PERF_GPU" inject -q --names=short

# "NAME SHARE" by perf, and by the sidecar
by_perf()
{
	perf report -i perf.gpu.data --stdio --no-children -F overhead,sym -g none 2>/dev/null |
		awk '/GPU_Kernel/ { sub(/.*\]/, "", $3); print $3, $1 }' | sort
}
by_sidecar()
{
	python3 "$TESTS/workloads/gpu_log.py" perf.data.gpu | awk '
		{ ns[$1] = $3; sum += $3 }
		END { for (name in ns) printf "%s %.2f%%\n", name, 100 * ns[name] / sum }' |
		c++filt | sed 's/(.*)//' | sort
}
expect "perf report's shares are the sidecar's" "$(by_sidecar)" "$(by_perf)"

# perf_quietly ARGUMENTS...: perf succeeds and has nothing to say
perf_quietly()
{
	perf "$@" >out 2>err
	expect "perf $*" "0 " "$? $(cat err)"
}
for file in perf.data perf.gpu.data; do
	perf_quietly report -i $file --stdio
	perf_quietly script -i $file
	perf_quietly evlist -v -i $file
	perf_quietly buildid-list -i $file
done
expect_match "the event's name" '^gpu-kernel$' "$(perf evlist -i perf.gpu.data)"
expect_match "the launches'" '^gpu-launch$' "$(perf evlist -i perf.data)"
perf annotate -i perf.gpu.data --stdio -s '[GPU_Kernel]matmul' >out 2>err
expect "perf annotate doesn't fail" 0 "$?"

# The marker can be found by what knows SDT notes.
note=$(readelf -n "$O/lib/perf-gpu/libperf-gpu-inject.so")
expect "two markers have a note" 2 "$(grep -c 'Name: launch' <<<"$note")"
expect_match "with their arguments" 'Arguments: 8@%rdi 8@%rsi 8@%rdx 4@%ecx 8@%r8 8@%r9' "$note"
export HOME=$TMP
perf buildid-cache --add "$O/lib/perf-gpu/libperf-gpu-inject.so"
expect_match "perf list sdt names it" 'sdt_perf_gpu:launch' "$(perf list sdt 2>/dev/null)"
