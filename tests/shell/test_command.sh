#!/bin/bash
# perf-gpu itself: version, help, wrong command lines, exit status
. "$(dirname "$0")/lib.sh"

check_status "version" 0 "$PERF_GPU" version
version=$(cat out)
expect_match "version is one line" '^perf-gpu version [0-9]+\.[0-9]+\.[0-9]+$' "$version"
expect "--version is the same" "$version" "$("$PERF_GPU" --version)"
expect_match "version --build-options lists libraries" '^ *libbpf: \[ on  \]  # [0-9.]+$' \
	"$("$PERF_GPU" version --build-options)"

check_status "--help" 0 "$PERF_GPU" --help
help=$(cat out)
commands=$(sed -n '/^ Commands:/,/^$/ s/^    \([a-z][a-z-]*\) .*/\1/p' <<<"$help")
expect "--help lists the commands" "record inject script report flamegraph export hotspot tui archive list merge wait check version help" \
	"$(xargs <<<"$commands")"
for command in $commands; do
	check_status "$command --help" 0 "$PERF_GPU" "$command" --help
	expect_match "$command --help names it" "^ Usage: perf-gpu $command " "$(cat out)"
	check_status "$command --nonsense" 129 "$PERF_GPU" "$command" --nonsense
	expect "$command --nonsense is one line" \
		"perf-gpu $command: unknown or ambiguous option --nonsense; see 'perf-gpu $command --help'" \
		"$(cat out err)"
done

check_status "no command" 129 "$PERF_GPU"
expect "no command prints the help" "$help" "$(cat out)"
check_status "a misspelled command" 129 "$PERF_GPU" recrod
expect "the command that was meant" \
	"perf-gpu: 'recrod' is no perf-gpu command; did you mean 'record'?" "$(cat err)"
check_status "an unknown command" 129 "$PERF_GPU" xyzzy
expect "no guess" "perf-gpu: 'xyzzy' is no perf-gpu command; see 'perf-gpu --help'" \
	"$(cat err)"
check_status "an unknown option" 129 "$PERF_GPU" --xyzzy
for option in "-g stacks are always recorded" "-F each launch is recorded" "-a .* a command, or -p"; do
	check_status "perf record's ${option%% *}" 129 "$PERF_GPU" record "${option%% *}" 9 true
	expect_match "is told what to do instead" "unknown option ${option/ /: }" "$(cat err)"
done
check_status "an unknown letter" 129 "$PERF_GPU" record -Z true
expect "has no hint" "perf-gpu record: unknown option -Z; see 'perf-gpu record --help'" "$(cat err)"
touch a.data
for command in report script inject flamegraph tui; do
	check_status "$command: a file without -i" 129 "$PERF_GPU" $command a.data
	expect_match "$command: is told how to name it" 'unexpected argument a.data: a recording is named by -i' "$(cat err)"
done
check_status "what is no file" 129 "$PERF_GPU" report b.data
expect "has no hint" "perf-gpu report: unexpected argument b.data; see 'perf-gpu report --help'" "$(cat err)"
check_status "a command with control characters" 129 "$PERF_GPU" $'\e[31mred\n'
expect_match "shows them" "^perf-gpu: '.x1b\[31mred.n' is no" "$(cat err)"

check_status "output to a full disk" 1 bash -c '"$1" version >/dev/full' - "$PERF_GPU"
expect_match "says so" 'No space left on device' "$(cat err)"

mkdir empty
check_status "help without man" 0 env PATH="$TMP/empty" "$PERF_GPU" help version
expect "help without man prints the options" "$("$PERF_GPU" version --help)" "$(cat out)"
check_status "help of no command" 129 "$PERF_GPU" help nonsense
if has man && has groff && [ -e "$TESTS/../man/perf-gpu-record.1" ]; then
	ln -s "$TESTS/../man" man
	mkdir bin && cp "$PERF_GPU" bin/
	check_status "help record" 0 env PAGER=cat MANPAGER=cat bin/perf-gpu help record
	expect_match "help record is its page" 'PERF-GPU-RECORD' "$(head -n 3 out)"
else
	skip_one "help record" "need man, groff and the page"
fi

# --- list --------------------------------------------------------------------------------

events=$(echo gpu-{kernel,memcpy,memset,sync,launch,queue,idle,alloc,fault})
check_status "list" 0 "$PERF_GPU" list
expect "list has all events" "$events" "$(sed -n 's/^  \([a-z][a-z-]*\) .*/\1/p' out | xargs)"
expect "list tells which are the default, and units" \
	"gpu-kernel gpu-memcpy gpu-memset / gpu-alloc gpu-fault" \
	"$(awk '/by default/ { print $1 }' out | xargs) / $(awk '/\[bytes/ { print $1 }' out | xargs)"
expect "list tells what an event needs" "leaf [GPU_Queue], made of kernels, API calls" \
	"$(grep -A 2 '^  gpu-queue ' out | sed -n '3s/^ *//p')"
check_status "list with an argument" 129 "$PERF_GPU" list gpu-kernel
check_status "list --json" 0 "$PERF_GPU" list --json
if has python3; then
	expect "list --json is JSON" "$events" "$(python3 -c 'import json
print(*(event["EventName"] for event in json.load(open("out"))))')"
else
	skip_one "list --json is JSON" "need python3"
fi

# events_of OPTION...: what the command is told by record
events_of()
{
	# shellcheck disable=SC2016 # for the inner shell
	"$PERF_GPU" record -q --stacks process "$@" -o events.data -- \
		sh -c 'echo $PERF_GPU_EVENTS' 2>/dev/null
}
expect "record -e: the default" 7 "$(events_of)"
expect "record -e: a list" 101 "$(events_of -e gpu-kernel,gpu-fault)"
expect "record -e: signs" 49 "$(events_of -e +gpu-idle,-gpu-memcpy,-gpu-memset,+gpu-sync)"
expect "record -e: several lists are one" 111 "$(events_of -e gpu-kernel -e gpu-fault -e gpu-launch)"
expect "record -e: the default, and more" 107 "$(events_of -e +gpu-fault)"
expect "record -e: less of what was named" 100 "$(events_of -e gpu-kernel -e gpu-fault -e -gpu-kernel)"
expect "record -e: more than the default, and more" 187 "$(events_of -e +gpu-fault -e gpu-alloc)"
check_status "script -e twice" 129 "$PERF_GPU" script -e gpu-kernel -e gpu-fault
expect_match "script -e twice: says what to do" '-e is there twice: name the events in one list' "$(cat err)"
expect "record -e: all" 1ff "$(events_of -e all)"
check_status "record -e of what there isn't" 129 "$PERF_GPU" record -e gpu-kernel,cycles -- true
expect "says what there is" "perf-gpu record: unknown event 'cycles': there are ${events// /, }, \
and all (perf-gpu list)" "$(cat err)"
check_status "record -e with a typing error" 129 "$PERF_GPU" record -e gpu-kernl -- true
expect_match "says what it may have been" \
	"unknown event 'gpu-kernl': did you mean gpu-kernel\? There are gpu-kernel, " "$(cat err)"
check_status "record -e of nothing" 129 "$PERF_GPU" record -e -gpu-kernel,-gpu-memcpy,-gpu-memset -- true
expect_match "says so" 'leaves no event' "$(cat err)"

# --- wait --------------------------------------------------------------------------------

unset CUDA_INJECTION64_PATH PERF_GPU_WAIT
library=$(realpath "$O/lib/perf-gpu/libperf-gpu-inject.so")
# shellcheck disable=SC2016 # for the inner shell
check_status "wait is the command" 7 "$PERF_GPU" wait -- \
	sh -c 'echo "$CUDA_INJECTION64_PATH $PERF_GPU_WAIT $*"; exit 7' - --env 2
expect "which has the library, and its arguments" "$library 1 --env 2" "$(cat out)"
check_status "wait --env" 0 "$PERF_GPU" wait --env
expect "prints the same" "CUDA_INJECTION64_PATH=$library"$'\n'PERF_GPU_WAIT=1$'\n'"NVTX_INJECTION64_PATH=$library" "$(cat out)"
check_status "wait within wait" 0 "$PERF_GPU" wait "$PERF_GPU" wait true
check_status "wait beside another library" 1 env CUDA_INJECTION64_PATH=/other.so "$PERF_GPU" wait true
expect_match "says so" 'CUDA_INJECTION64_PATH is set to /other.so' "$(cat err)"
check_status "wait without a command" 129 "$PERF_GPU" wait
check_status "wait --env with a command" 129 "$PERF_GPU" wait --env true
check_status "wait for a command that isn't there" 127 "$PERF_GPU" wait /no/such
expect "says so" "perf-gpu wait: can't run /no/such: No such file or directory" "$(cat err)"
check_status "wait for no executable" 126 "$PERF_GPU" wait /etc/passwd
