#!/bin/bash
# perf-gpu report --by nvtx: what ran within each range, in all and where no other was within
. "$(dirname "$0")/lib.sh"
need fake_cuda python3

if [ ! -x "$WORKLOADS/nvtx" ]; then
	echo "1..0 # SKIP nvtx3/nvToolsExt.h isn't there to build the program of"
	exit 0
fi
export FAKE_CUDA_INSTANT=1
unset NVTX_INJECTION64_PATH PERF_GPU_NVTX_NEXT

record()
{
	run_fake "$PERF_GPU" record -q --stacks process "$@" >out
}

report()
{
	"$PERF_GPU" report "$@"
}

# --- a program that does what it is told --------------------------------------------------

# Ranges nest in themselves, have equal names in their process and thread, and stay open.
cat >told <<END
launch
push epoch
push step
launch
push forward
launch
launch
pop
pop
push step
launch
push step
launch
pop
launch
pop
start request
launch
end
pop
push left
launch
END
echo 'plain_kernel 1000' >durations
FAKE_CUDA_DURATIONS=durations check "a program is recorded" record --nvtx \
	"$WORKLOADS/nvtx" commands <told

# name calls total own ranges mean min max
expect "each range has what ran within it, and its own" "epoch 7 7000 1000 1 7000 7000 7000
step 6 6000 4000 2 3000 3000 3000
forward 2 2000 2000 1 2000 2000 2000
[no NVTX range] 1 1000 1000 0 - - -
left 1 1000 1000 1 1000 1000 1000
request 1 1000 0 1 1000 1000 1000" "$(report -q --by nvtx --json | python3 -c '
import json, sys
for row in json.load(sys.stdin)["rows"]:
    assert sum(leaf["total"] for leaf in row["leaves"]) == row["total"], row
    assert sum(leaf["calls"] for leaf in row["leaves"]) == row["calls"], row
    print(row["name"], *(row[key] for key in ("calls", "total", "own", "ranges")),
          *(int(row[key]) if key in row else "-" for key in ("mean", "min", "max")))')"
expect "CSV has the same" "$(report -q --by nvtx --json | python3 -c '
import json, sys
for row in json.load(sys.stdin)["rows"]:
    mean = "%.3f" % row["mean"] if "mean" in row else ""
    print("range", row["name"], "", row["calls"], row["total"], row["own"], row["ranges"], mean)
    for leaf in row["leaves"]:
        print("leaf", row["name"], leaf["name"], leaf["calls"], leaf["total"], "", "", "")')" \
	"$(report -q --by nvtx --csv | python3 -c '
import csv, sys
for row in csv.DictReader(sys.stdin):
    assert None not in row and None not in row.values(), row
    if row["line"] != "gpu":
        print(*(row[key] for key in ("line", "name", "caller", "calls", "total", "own", "ranges", "mean")))')"
expect "so has the text" " Share  Total    Own     Calls Ranges   Mean Median    Max  Kernels, by NVTX range
 77.7% 7.00us 1.00us         7      1 7.00us 7.00us 7.00us  epoch
       100.0% in plain_kernel()
 66.6% 6.00us 4.00us         6      2 3.00us 3.00us 3.00us  step
       100.0% in plain_kernel()
 22.2% 2.00us 2.00us         2      1 2.00us 2.00us 2.00us  forward
       100.0% in plain_kernel()
 11.1% 1.00us 1.00us         1      -      -      -      -  [no NVTX range]
       100.0% in plain_kernel()
 11.1% 1.00us 1.00us         1      1 1.00us 1.00us 1.00us  left
       100.0% in plain_kernel()
 11.1% 1.00us    0ns         1      1 1.00us 1.00us 1.00us  request
       100.0% in plain_kernel()" "$(report -q --by nvtx | sed -n '/^ Share/,$p')"
expect "a limit says how many there are" " 77.7% 7.00us 1.00us         7      1 7.00us 7.00us 7.00us  epoch
               ... 5 more (--limit 0 shows all)" \
	"$(report -q --by nvtx --limit 1 --callers 0 | tail -n 2)"
expect "GPUs have tables of their own" "--- GPU 0 ---" \
	"$(report -q --by device,nvtx | grep -e '^---')"
expect "ranges make no groups" "" "$(report -q --by nvtx | grep -e '^---')"
expect "they are sorted as rows are" "step" \
	"$(report -q --by nvtx --sort name --csv | sed -n 's/^range,[^"]*"\([^"]*\)".*/\1/p' | tail -n 1)"

# --- domains, threads, processes; as --label nvtx has them ------------------------------------

check "ranges of every kind are recorded" record --nvtx "$WORKLOADS/nvtx"
"$PERF_GPU" script --folded --label nvtx >folded 2>err
expect "each range comes to what its label does" "$(python3 - <<'END'
import collections, re, sys
total, own = collections.Counter(), collections.Counter()
for line in open("folded"):
    stack, ns = line.rsplit(" ", 1)
    ranges = re.findall(r"\[nvtx ([^\]]*)\]", stack) or ["[no NVTX range]"]
    for name in set(ranges):
        total[name] += int(ns)
    own[ranges[-1]] += int(ns)
for name in sorted(total):
    print(name, total[name], own[name])
END
)" "$(report -q --by nvtx --json | python3 -c '
import json, sys
for row in sorted(json.load(sys.stdin)["rows"], key=lambda row: row["name"]):
    print(row["name"], row["total"], row["own"])')"
expect_match "domains are named" '  mine:epoch$' "$(report -q --by nvtx)"

check "ranges of two domains are recorded" record --nvtx "$WORKLOADS/nvtx" domains
expect "the README has what is printed" "$(report --by nvtx --callers 0 | sed -n '/^ Share/,$p')" \
	"$(sed -n '/perf-gpu report --by nvtx --callers 0$/,/^$/p' "$TESTS/../README.md" |
		sed -n 's/^    \( .*\)/\1/p')"

# --- other events, and no ranges --------------------------------------------------------------

check "copies are recorded" record --nvtx -e all "$WORKLOADS/nvtx" copies
expect_match "copies are in ranges, too" 'Copies, by NVTX range$' "$(report -q --by nvtx)"
check "a program is recorded without ranges" record -o none.data "$WORKLOADS/launches" -n 1
check_status "which is an error" 1 report -i none.data --by nvtx
expect "that says how to record them" \
	"perf-gpu report: the recording has no NVTX ranges: record a program that has any with 'perf-gpu record --nvtx'" \
	"$(cat err)"
expect "and nothing else" "" "$(cat "$TMP/out")"
