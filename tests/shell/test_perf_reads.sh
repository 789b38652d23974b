#!/bin/bash
# Stock perf on what record and inject make of a real program: the shares, no complaint, the SDT note
. "$(dirname "$0")/lib.sh"
need root bpf perf fake_cuda nvcc python3

run_fake env FAKE_CUDA_DURATIONS="$TESTS/data/mini_llm.durations" \
	"$PERF_GPU" record -q -e gpu-kernel "$WORKLOADS/mini_llm" -n 4 >/dev/null
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

# Into another folder, which then moves: the names are found by build id, in perf's cache.
export HOME=$TMP
mkdir elsewhere
"$PERF_GPU" inject -q --names=short -o elsewhere/gpu.data
perf buildid-cache -a "elsewhere/gpu.data.dso/[GPU_Kernel]"
mv elsewhere moved
rm -r moved/gpu.data.dso
mv moved/gpu.data perf.gpu.data
expect "shares of a file that was moved" "$(by_sidecar)" "$(by_perf)"

# names OPTION: of the kernels, for perf
names()
{
	"$PERF_GPU" inject -q "$@" -o named.data
	perf script -i named.data -F event,ip,sym | awk '/gpu-kernel/ { getline; $1 = ""; print }' |
		sort -u
}
mangled=$(python3 "$TESTS/workloads/gpu_log.py" perf.data.gpu | cut -d ' ' -f 1 | sort)
expect "--names=mangled" "$mangled" "$(names --names=mangled | sed 's/^ \[GPU_Kernel\]//' | sort)"
expect "--names=full" "$(c++filt <<<"$mangled" | sort)" \
	"$(names --names=full | sed 's/^ \[GPU_Kernel\]//' | sort)"

# Between the kernel and the program: one frame, or all of them but ours
above_kernel()
{
	"$PERF_GPU" inject -q "$@" -o frames.data
	perf script -i frames.data -F event,ip,sym,dso | awk '/gpu-kernel/ { getline; getline
		while (!/mini_llm\)/) { print $NF; getline } }' | sed -E 's:.*/|[()]::g' | sort -u | xargs
}
expect "frames of the API alone are kept" "[GPU_Kernel]" "$(above_kernel)"
expect "--keep-driver-frames keeps the insides" "libcudart.so.13 libcupti.so.13" \
	"$(above_kernel --keep-driver-frames)"

# The marker can be found by what knows SDT notes.
note=$(readelf -n "$O/lib/perf-gpu/libperf-gpu-inject.so")
expect "two markers have a note" 2 "$(grep -c 'Name: launch' <<<"$note")"
expect_match "with their arguments" 'Arguments: 8@%rdi 8@%rsi 8@%rdx 4@%ecx 8@%r8 8@%r9' "$note"
perf buildid-cache --add "$O/lib/perf-gpu/libperf-gpu-inject.so"
expect_match "perf list sdt names it" 'sdt_perf_gpu:launch' "$(perf list sdt 2>/dev/null)"
