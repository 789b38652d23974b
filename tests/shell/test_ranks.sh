#!/bin/bash
# Several ranks with several GPUs each: reports, flame graphs and timelines by rank and by device
. "$(dirname "$0")/lib.sh"
need root bpf fake_cuda nvcc python3 perl strings

export FAKE_CUDA_INSTANT=1 FAKE_CUDA_DEVICES=4

# As torchrun starts them: two ranks, of which each sees two of the four GPUs as 0 and 1.
cat >ranks.sh <<'END'
for rank in 0 1; do
	RANK=$rank LOCAL_RANK=$rank WORLD_SIZE=2 CUDA_VISIBLE_DEVICES=$((2 * rank)),$((2 * rank + 1)) \
		"$@" &
done
wait
END
app=("$WORKLOADS/multi_gpu" -t 4 -s 2 -n 50)

# "GPU RANK KERNELS NS" of what ran, by the stand-in: a GPU's number is in its UUID
truth()
{
	awk '$1 == "#" && $2 == "device" {
			gpu = substr($4, length($4)) - 1
			nr[gpu] += $5
			ns[gpu] += $6
		}
		END { for (gpu in nr) print gpu, int(gpu / 2), nr[gpu], ns[gpu] }' truth | sort
}

# The same by each output, of a recording
by_report()
{
	"$PERF_GPU" report -i "$1" -e gpu-kernel --by rank,device --csv | python3 -c '
import csv, sys
for row in csv.DictReader(sys.stdin):
    if row["line"] == "row" and not row["caller"]:
        print(row["device"], row["rank"], row["calls"], row["total"])' | sort
}

by_script()
{
	"$PERF_GPU" script -i "$1" -F event,period,device,rank |
		perl -ne 'print "$2 $1 $3\n" if /rank=(\d+) device=(\d+) +(\d+) gpu-kernel/' |
		awk '{ nr[$1 " " $2]++; ns[$1 " " $2] += $3 } END { for (who in nr) print who, nr[who], ns[who] }' | sort
}

by_folded()
{
	"$PERF_GPU" script -i "$1" --folded --label rank,device --label-at root |
		perl -ne '$ns{"$2 $1"} += $3 if /\[rank (\d+)\];\[device (\d+)\];.* (\d+)$/;
			END { print "$_ $ns{$_}\n" for sort keys %ns }'
}

# Boxes of a flame graph, of ranks and, within them, devices: "KERNELS NS"
by_flamegraph()
{
	"$PERF_GPU" flamegraph --svg -i "$1" -o - -e gpu-kernel --label "$2" --label-at root |
		perl -ne 'while (/<title>\[(?:rank|device) (\d+)\]: ([\d,]+) ns, [\d.]+ %, ([\d,]+) calls/g) {
			($who, $ns, $nr) = ($1, $2, $3); $ns =~ tr/,//d; $nr =~ tr/,//d; print "$who $nr $ns\n" }' | sort
}

by_chrome()
{
	"$PERF_GPU" export --chrome -i "$1" -o trace.json
	python3 - <<'END'
import collections, json, re

events = json.load(open("trace.json"))["traceEvents"]
names = {event["pid"]: event["args"]["name"] for event in events if event["name"] == "process_name"}
lanes = {(event["pid"], event["tid"]): event["args"]["name"]
         for event in events if event["name"] == "thread_name"}
count, ns = collections.Counter(), collections.Counter()
for event in events:
    if event["ph"] == "X" and event.get("cat") == "kernel":
        gpu = re.match(r"GPU (\d+) ", names[event["pid"]])[1]
        rank = re.search(r", rank (\d+)", lanes[event["pid"], event["tid"]])[1]
        count[gpu, rank] += 1
        ns[gpu, rank] += round(event["dur"] * 1000)
for gpu, rank in sorted(count):
    print(gpu, rank, count[gpu, rank], ns[gpu, rank])
END
}

# Names of what holds the tracks, in the order in which they are to be shown
groups()
{
	python3 - <<'END'
import json

events = json.load(open("trace.json"))["traceEvents"]
order = {event["pid"]: event["args"]["sort_index"]
         for event in events if event["name"] == "process_sort_index"}
names = {event["pid"]: event["args"]["name"] for event in events if event["name"] == "process_name"}
# Of processes there is no order.
print(*sorted((name for pid, name in names.items() if not name.startswith("GPU"))), sep="\n")
print(*(names[pid] for pid in sorted(names, key=order.get) if names[pid].startswith("GPU")), sep="\n")
END
}

# shown WHAT FILE: all outputs say the same as the truth
shown()
{
	local what=$1 file=$2

	expect "$what: report" "$(truth)" "$(by_report "$file")"
	expect "$what: script's fields" "$(truth)" "$(by_script "$file")"
	expect "$what: folded" "$(truth | cut -d ' ' -f 1,2,4)" "$(by_folded "$file")"
	expect "$what: a flame graph by rank" \
		"$(truth | awk '{ nr[$2] += $3; ns[$2] += $4 } END { for (rank in nr) print rank, nr[rank], ns[rank] }' | sort)" \
		"$(by_flamegraph "$file" rank)"
	expect "$what: and by device" "$(truth | cut -d ' ' -f 1,3,4)" "$(by_flamegraph "$file" device)"
	expect "$what: a timeline by both" "$(truth)" "$(by_chrome "$file")"
	expect "$what: with ranks at processes, and GPUs in their order" \
		"multi_gpu, rank 0
multi_gpu, rank 1
GPU 0 (Fake GPU)
GPU 1 (Fake GPU)
GPU 2 (Fake GPU)
GPU 3 (Fake GPU)" "$(groups)"
}

check_status "one recorder: is recorded" 0 run_fake env FAKE_CUDA_TRUTH="$TMP/truth" \
	"$PERF_GPU" record bash ranks.sh "${app[@]}"
expect "each rank has two GPUs of its own" "0 0
1 0
2 1
3 1" "$(truth | cut -d ' ' -f 1,2)"
shown "one recorder" perf.data
if "$PERF_GPU" version --build-options | grep 'protobuf.*\[ *on' >/dev/null; then
	check "Perfetto's" "$PERF_GPU" export --perfetto -o trace.pftrace
	expect "Perfetto's: has ranks at processes" "multi_gpu, rank 0
multi_gpu, rank 1" "$(strings trace.pftrace | grep -o 'multi_gpu, rank [01]' | sort -u)"
else
	skip_one "Perfetto's" "built without protobuf-c"
fi

# A recorder for each rank, as where a launcher starts them, and merged
rm -f truth
check_status "one for each rank: are recorded" 0 run_fake env FAKE_CUDA_TRUTH="$TMP/truth" \
	bash ranks.sh "$PERF_GPU" record -q -o ranks.%r.data "${app[@]}"
check "one for each rank: are merged" "$PERF_GPU" merge -q -o merged.data ranks.0.data ranks.1.data
shown "one for each rank" merged.data
