#!/bin/bash
# Every event, alone and together: samples are what the stand-in did, in each output, to the ns and byte
. "$(dirname "$0")/lib.sh"
need root bpf perf fake_cuda nvcc python3

export PYTHONDONTWRITEBYTECODE=1
program=$WORKLOADS/event_truth
# All but touches: the stand-in doesn't see when the CPU touches memory.
parts=(copies memsets graphs peers allocations waits gaps calls queues faults)
all=gpu-kernel,gpu-memcpy,gpu-memset,gpu-sync,gpu-launch,gpu-queue,gpu-idle,gpu-alloc,gpu-fault

run_fake "$program" -d >durations
run_fake "$program" -m >migrations
export FAKE_CUDA_DURATIONS=$TMP/durations FAKE_CUDA_MIGRATIONS=$TMP/migrations
export FAKE_CUDA_DEVICES=2

# record EVENTS [OPTION...]: of what event_truth does
record()
{
	local events=$1
	shift

	rm -f truth.txt
	FAKE_CUDA_TRUTH=$TMP/truth.txt run_fake "$PERF_GPU" record -e "$events" "$@" \
		"$program" -o did.txt "${parts[@]}" 2>record.err
}

# "EVENT SAMPLES SUM" of perf-script text
sums()
{
	awk '/ gpu-[a-z]+: $/ { sub(":", "", $NF); nr[$NF]++; sum[$NF] += $(NF - 1) }
		END { for (event in nr) printf "%s %d %.0f\n", event, nr[event], sum[event] }' "$@" | sort
}

# The same of the sidecar, by a reader that isn't ours: sums_of UNIT-REGEX EVENT-REGEX
sidecar_sums()
{
	python3 "$TESTS/workloads/event_sums.py" perf.data.gpu | awk -v unit="$1" -v event="$2" '
		$1 ~ event && ($4 ~ unit || $1 !~ /memcpy|memset|fault/) { print $1, $2, $3 }' | sort
}

# By the units that events have by themselves
own_sums()
{
	{
		sidecar_sums ns '^gpu-(kernel|memcpy|memset|sync|launch|queue|idle|alloc)$'
		sidecar_sums bytes '^gpu-fault$'
	} | sort
}

# --- all together ------------------------------------------------------------------------

check "all events are recorded" record all
check_status "script prints all" 0 "$PERF_GPU" script
expect "and says nothing else" "" "$(cat err)"
mv out all.txt
expect "samples are what the sidecar has" "$(own_sums)" "$(sums all.txt)"
expect "there are samples of each event" "$(tr , '\n' <<<$all | sort)" \
	"$(sums all.txt | cut -d ' ' -f 1)"
"$PERF_GPU" script -e gpu-memcpy,gpu-memset,gpu-fault --weight=bytes >bytes.txt
"$PERF_GPU" script -e gpu-memcpy,gpu-memset,gpu-fault --weight=ns >ns.txt
"$PERF_GPU" script -e gpu-alloc --leaks >leaks.txt
expect "--weight=bytes" "$(sidecar_sums bytes 'memcpy|memset|fault')" "$(sums bytes.txt)"
expect "--weight=ns" "$(sidecar_sums ns 'memcpy|memset|fault')" "$(sums ns.txt)"
"$PERF_GPU" inject -e gpu-alloc --leaks -o leaks.data 2>leaks.err
expect_match "--leaks says what it counts" 'allocations never freed, [0-9,]* bytes; ' "$(cat leaks.err)"
expect "--leaks" "$(sidecar_sums bytes leaks | sed 's/leaks/gpu-alloc/')" "$(sums leaks.txt)"
"$PERF_GPU" script -e gpu-memcpy,gpu-memset --weight=bytes >copied.txt
check "each function has what it did, in each event" \
	python3 "$TESTS/workloads/check_events.py" did.txt all.txt --bytes copied.txt \
	--leaks leaks.txt --sidecar perf.data.gpu --events $all

# What the stand-in says it did, "EVENT COUNT NS BYTES", 0 where there is none
truth()
{
	awk -F '\t' 'NF > 1 { nr += $1; ns += $2 } END { print "gpu-kernel", nr, ns, 0 }' truth.txt
	awk '$2 == "memcpy" { nr["memcpy"] += $7; bytes["memcpy"] += $8; ns["memcpy"] += $9 }
		$2 == "memset" { nr["memset"] += $5; bytes["memset"] += $6; ns["memset"] += $7 }
		$2 == "alloc" { nr["alloc"] += $5; bytes["alloc"] += $6 }
		$2 == "migration" && $4 !~ /fault/ {
			nr["fault"] += $5; bytes["fault"] += $6; ns["fault"] += $7 }
		$2 == "sync" && $3 != "stream-wait-event" { nr["sync"] += $4; ns["sync"] += $5 }
		END { for (event in nr) printf "gpu-%s %d %.0f %.0f\n", event, nr[event], ns[event],
			bytes[event] }' truth.txt
}
# The same of samples; each with a period has one
seen()
{
	{
		sums all.txt | awk '/kernel|sync/ { print $0, 0 } /alloc/ { print $1, $2, 0, $3 }'
		join <(sums ns.txt) <(sums bytes.txt) | awk '{ print $1, $2, $3, $5 }'
	} | sort
}
expect "counts, times and bytes are the stand-in's" "$(truth | sort)" "$(seen)"
expect "what was never freed, too" \
	"$(awk '$2 == "alloc" && $4 !~ /static/ { nr += $9; bytes += $10 }
		END { print "gpu-alloc", nr, bytes }' truth.txt)" "$(sums leaks.txt)"

# --- other outputs -----------------------------------------------------------------------

check_status "inject writes all" 0 "$PERF_GPU" inject
inject=$(cat err)
check_status "perf script reads it" 0 perf script -i perf.gpu.data
expect "and says nothing else" "" "$(cat err)"
expect "perf script has the same samples" "$(own_sums)" "$(sums out)"
expect "perf script has the same lines" "$(grep ' gpu-' out)" "$(grep ' gpu-' all.txt)"
check_status "perf report reads it" 0 perf report --stdio -i perf.gpu.data -g none
expect "and says nothing else" "" "$(cat err)"
expect "perf report has them, a section each" "$(own_sums)" "$(awk '
	/^# Samples:/ { nr = $3; event = $NF; gsub("'\''", "", event) }
	/^# Event count/ { print event, nr, $NF }' out | sort)"

# with_commas NUMBER
with_commas()
{
	sed -E ':a; s/([0-9])([0-9]{3})\b/\1,\2/; ta' <<<"$1"
}
while read -r event nr ns bytes; do
	line=$(with_commas "$nr")" "
	case $event in
	gpu-kernel) line+="GPU kernels, " ;;
	gpu-memcpy) line+="copies, $(with_commas "$bytes") bytes, " ;;
	gpu-memset) line+="memsets, $(with_commas "$bytes") bytes, " ;;
	gpu-sync) line+="waits for the GPU, " ;;
	gpu-alloc) line+="allocations, $(with_commas "$bytes") bytes; " ;;
	gpu-fault) line+="migrations, $(with_commas "$bytes") bytes, " ;;
	esac
	if [ "$nr" = 1 ]; then
		line=$(sed -E '1s/copies,/copy,/; 1s/(kernel|memset|allocation|migration)s,/\1,/; s/waits/wait/' <<<"$line")
	fi
	[ "$ns" = 0 ] || line+="$(with_commas "$(awk -v ns="$ns" 'BEGIN { printf "%d", ns / 1e6 }')")."
	check "inject says what $event came to" grep -qF "$line" <<<"$inject"
done < <(truth)
expect "a line for each GPU that did something" \
	"$(awk '($2 == "device" && $5) || $2 ~ /^mem(cpy|set)$/ { print $3 }' truth.txt | sort -u)" \
	"$(sed -n 's/.*: GPU \([0-9]*\) (Fake GPU): busy .*/\1/p' <<<"$inject")"
expect_match "unified memory's page faults are told" \
	'unified memory: 0 page faults of the CPU, [1-9][0-9,]* of GPUs' "$inject"

# --- several processes and GPUs ----------------------------------------------------------

# two WHAT VISIBLE-OF-THE-SECOND: two processes at once; their device 0 has its gaps
two()
{
	local what=$1
	shift

	# shellcheck disable=SC2016 # for the inner shell
	check "$what: are recorded" run_fake "$PERF_GPU" record -q -e gpu-idle sh -c '
		CUDA_VISIBLE_DEVICES=0,1 "$1" -o /dev/null gaps & first=$!
		CUDA_VISIBLE_DEVICES=$2 "$1" -o /dev/null gaps; wait $first' - "$program" "$@"
	"$PERF_GPU" script -e gpu-idle >out 2>err
	expect "$what: gaps are what the sidecar has" "$(sidecar_sums ns gpu-idle)" "$(sums out)"
	"$PERF_GPU" inject -e gpu-idle 2>err
}

# From when the first gap began to the last launch behind one, and all gaps, in ms
span_and_idle()
{
	awk '/ gpu-idle: $/ {
			end = 1e3 * $(NF - 2); ms = $(NF - 1) / 1e6; idle += ms
			if (!begin || end - ms < begin) begin = end - ms
			if (end > last) last = end
		}
		END { printf "%.0f %.0f\n", last - begin, idle }' out
}
two "two processes on one GPU" 0
expect "they share its time" 1 "$(grep -c ': GPU [0-9]* (Fake GPU): busy' err)"
# Two GPUs with the work of one each have twice as many gaps, at the same time. How long a launch
# takes to get to the GPU isn't in the span.
read -r span_ms idle_ms < <(span_and_idle)
check "no two of its gaps are at one time: $idle_ms ms of $span_ms ms" test "$idle_ms" -le $((span_ms * 5 / 4 + 5))
two "two processes, with a GPU each that both call 0" 1
expect "each GPU has a time of its own" 2 "$(grep -c ': GPU [0-9]* (Fake GPU): busy' err)"

# --- one by one --------------------------------------------------------------------------

# How often each function was called
apis()
{
	grep -o '\[GPU_Launch\][A-Za-z_0-9]*' "$@" | sort | uniq -c
}

# What is asked for alone is as it is in a recording of everything. Times of the CPU aren't
# the same twice: of them, only the number of samples.
cp did.txt did.all
for event in ${all//,/ }; do
	check "$event alone is recorded" record "$event"
	"$PERF_GPU" script >one.txt 2>err
	expect "$event alone: there is nothing else" "$event" "$(sums one.txt | cut -d ' ' -f 1)"
	expect "$event alone: it is what the sidecar has" "$(own_sums | grep "^$event ")" "$(sums one.txt)"
	case $event in
	gpu-kernel | gpu-memcpy | gpu-memset | gpu-alloc | gpu-fault)
		expect "$event alone: and what it was among all" "$(sums all.txt | grep "^$event ")" \
			"$(sums one.txt)"
		;;
	gpu-launch)
		expect "$event alone: the calls that there were among all" "$(apis all.txt)" "$(apis one.txt)"
		;;
	esac
	check "$event alone: each function has what it did" \
		python3 "$TESTS/workloads/check_events.py" did.txt one.txt --sidecar perf.data.gpu \
		--events "$event"
done

# --- what isn't there ----------------------------------------------------------------------

check "the default is recorded" record +gpu-memset
expect "the default is kernels, copies and memsets" "gpu-kernel gpu-memcpy gpu-memset" \
	"$("$PERF_GPU" script 2>/dev/null | sums | cut -d ' ' -f 1 | xargs)"
expect "what gpu-idle is made of was recorded" "$(own_sums | grep gpu-idle)" \
	"$("$PERF_GPU" script -e gpu-idle 2>/dev/null | sums)"
for event in gpu-sync gpu-launch gpu-queue gpu-alloc gpu-fault; do
	check_status "$event was not recorded" 1 "$PERF_GPU" script -e +$event
	expect "and how to do so is said" \
		"perf-gpu script: perf.data.gpu has no $event: make it with perf-gpu record -e +$event" \
		"$(cat out err)"
done
check_status "leaks weren't recorded" 1 "$PERF_GPU" inject --leaks
expect_match "and how to do so is said" 'record it with -e \+gpu-alloc' "$(cat err)"
check_status "an event that there isn't" 129 "$PERF_GPU" inject -e cycles
expect_match "says which there are" "unknown event 'cycles': there are gpu-kernel, " "$(cat err)"
check_status "no weight" 129 "$PERF_GPU" script --weight=kg
expect_match "says which there are" '--weight takes ns or bytes, not kg' "$(cat err)"
