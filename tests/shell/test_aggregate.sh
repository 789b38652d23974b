#!/bin/bash
# inject --aggregate: as much time as without, to the nanosecond, in fewer samples
. "$(dirname "$0")/lib.sh"
need perf fake_cuda python3

export HOME=$TMP DEBUGINFOD_URLS="" PYTHONDONTWRITEBYTECODE=1

record()
{
	run_fake "$PERF_GPU" record -q --stacks process "$@"
}

inject_both()
{
	"$PERF_GPU" inject -q -o each.data "$@" &&
		"$PERF_GPU" inject -q --aggregate -o sum.data "$@"
}

# report FILE OPTION...: events, periods, and what they are of; not how many samples, nor
# the tip that perf draws
report()
{
	local file=$1
	shift
	perf report --stdio -i "$file" -g none "$@" 2>&1 |
		sed '/^# (Tip: /d; /^# Samples:/s/: [0-9KM]* *of/: of/; s/ *$//; s/\.dso\/[^ ]*//' | grep .
}

# Lines "EVENT PERIODS SAMPLES", of what each sample is by itself
sums()
{
	perf script -i each.data -F period,event 2>/dev/null |
		awk '{ period[$2] += $1; nr[$2]++ }
			END { for (e in nr) printf "%s %.0f %d\n", e, period[e], nr[e] }' | sort
}

# The same of sums, by their weights
sums_of_weights()
{
	perf script -i sum.data -F period,event,weight 2>/dev/null |
		awk '{ period[$2] += $1; nr[$2] += $3 }
			END { for (e in nr) printf "%s %.0f %d\n", e, period[e], nr[e] }' | sort
}

# folded FILE: each event, as stackcollapse-perf.pl does it, of perf's text
folded()
{
	local event

	for event in $(perf evlist -i "$1" 2>/dev/null); do
		echo "$event"
		perf script -i "$1" 2>/dev/null | sed "s/$1\.dso/dso/g" |
			awk -v RS='' -v ORS='\n\n' -v event=" $event: " 'index($0, event)' |
			python3 "$TESTS/tools/fold_script.py" | LC_ALL=C sort
	done
}

nr_samples()
{
	perf script -i "$1" -F event 2>/dev/null | wc -l
}

# same WHAT: both tell the same
same()
{
	expect "$1: perf report has the same totals" \
		"$(report each.data --no-children -F period,comm,dso,sym -s comm,dso,sym)" \
		"$(report sum.data --no-children -F period,comm,dso,sym -s comm,dso,sym)"
	expect "$1: and shares of callers" \
		"$(report each.data --children -s sym)" "$(report sum.data --children -s sym)"
	expect "$1: and stacks" "$(folded each.data)" "$(folded sum.data)"
	expect "$1: weights are samples" "$(sums)" "$(sums_of_weights)"
}

check "a program is recorded" record "$WORKLOADS/launches" -n 300 -t 3
check "it is injected both ways" inject_both
same launches
# Two places that launch, each in threads of the one name
expect "threads of one name are one" \
	"$("$PERF_GPU" script -F comm,period,ip 2>/dev/null | awk '
		/gpu-kernel|^[^ \t]+ +[0-9]+ *$/ { comm = $1; next }
		/^[ \t]/ { stack = stack $1 }
		/^$/ { seen[comm stack]; stack = "" }
		END { n = 0; for (s in seen) n++; print n }')" \
	"$(nr_samples sum.data)"
expect "perf has no complaint" "" "$(perf report --stdio -i sum.data 2>&1 >/dev/null)"

parser=$(find /usr/lib* /usr/libexec -name hotspot-perfparser 2>/dev/null | head -n 1)
if [ -n "$parser" ]; then
	for file in each sum; do
		"$parser" --input $file.data --output $file.parsed 2>/dev/null
	done
	expect "hotspot has the same costs" \
		"$(python3 "$TESTS/tools/hotspot_costs.py" each.parsed | cut -d ' ' -f 1,3-)" \
		"$(python3 "$TESTS/tools/hotspot_costs.py" sum.parsed | cut -d ' ' -f 1,3-)"
else
	skip_one "hotspot has the same costs" "hotspot isn't installed"
fi

# Libraries that are opened and closed have the same addresses, one after the other.
check "libraries in turn are recorded" record "$WORKLOADS/plugins" 6 10
check "they are injected both ways" inject_both
same "libraries in turn"
expect "each is a sum of its own, once" 2 "$(nr_samples sum.data)"

check "several processes are recorded" record "$WORKLOADS/processes" exec 20
check "they are injected both ways" inject_both
same processes

if [ -x "$WORKLOADS/event_truth" ]; then
	check "all events are recorded" record -e all "$WORKLOADS/event_truth" -o did.txt \
		copies memsets allocations waits gaps graphs
	check "they are injected both ways" inject_both
	same "all events"
	check "with labels" inject_both --label device,stream
	same "labels"
	check "with streams for threads" inject_both --threads=stream
	same "streams"
else
	skip_one "all events" "no nvcc to build the CUDA programs"
fi

for recording in mini_llm two_streams; do
	check "$recording, of an H200, is injected both ways" inject_both \
		-i "$TESTS/data/h200/$recording/perf.data" --symfs "$TESTS/data/h200/$recording/symfs"
	same "$recording"
done
