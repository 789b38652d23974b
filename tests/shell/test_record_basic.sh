#!/bin/bash
# perf-gpu record without CUDA: the command's status, signals and stdin, files, losses
. "$(dirname "$0")/lib.sh"
need root bpf perf "${CC:-cc}"

"${CC:-cc}" -std=gnu11 -D_GNU_SOURCE -g -O2 -fno-omit-frame-pointer \
	"$TESTS/workloads/marker_calls.c" -o marker_calls -ldl || exit 1

# The files here, but the test's own
files()
{
	find . -mindepth 1 -maxdepth 1 ! -name out ! -name err ! -name marker_calls \
		! -name '*.py' -printf '%f\n' | sort | xargs
}

# Stock perf reads the recording, and has nothing to say on stderr.
perf_reads()
{
	local command

	for command in "script" "report --stdio" "evlist -v" "buildid-list" \
		"report --header-only"; do
		# shellcheck disable=SC2086 # words of a command
		perf $command -i perf.data >perf.out 2>perf.err </dev/null
		expect "$1: perf $command" "0 " "$? $(cat perf.err)"
	done
	rm perf.out perf.err
}

# --- samples -------------------------------------------------------------------

check_status "four processes" 0 "$PERF_GPU" record -- ./marker_calls -c 3 1000
expect_match "launches and processes are counted" \
	'^\[ perf-gpu record: 4,000 launches of 4 processes in perf.data \(0\.[0-9] MB\), GPU records in perf.data.gpu \([0-9.]+ KB\) \]$' \
	"$(cat err)"
expect_match "nothing is lost" \
	'^\[ perf-gpu record: 0 launches lost, 0 GPU records dropped \]$' "$(cat err)"
expect "two files" "perf.data perf.data.gpu" "$(files)"
perf_reads "unwind"
expect "every launch is a sample" 4000 "$(perf script -F event 2>/dev/null | grep -c gpu-launch)"
expect "with the library's frames" "outer main" \
	"$(perf script -F ip,sym 2>/dev/null | awk 'NF == 2 { print $2 }' | head -n 2 | xargs)"
expect "of four processes" 4 "$(perf script -F pid 2>/dev/null | awk 'NF == 1' | sort -u | wc -l)"
expect_match "of the program's build id" "$(readelf -n marker_calls | sed -n 's/.*Build ID: //p') .*/marker_calls" \
	"$(perf buildid-list -i perf.data)"
expect_match "on CLOCK_MONOTONIC" 'clockid: monotonic' "$(perf report --header-only -i perf.data)"
expect_no_match "without the kernel's trampoline" 'trampo' "$(perf script --show-mmap-events 2>/dev/null)"

check_status "frame pointers" 0 "$PERF_GPU" record --call-graph fp -- ./marker_calls 10
perf_reads "fp"
# The marker's direct caller, inner, is not in a chain of frame pointers.
expect "the kernel's frames" "perf_gpu_launch outer main" \
	"$(perf script -F ip,sym 2>/dev/null | awk 'NF == 2 { print $2 }' | head -n 3 | xargs)"

check_status "copied stacks" 0 "$PERF_GPU" record --call-graph dwarf,4096 -- ./marker_calls 10
expect "perf walks them" "perf_gpu_launch inner outer main" \
	"$(perf script -F ip,sym 2>/dev/null | awk 'NF == 2 { print $2 }' | head -n 4 | xargs)"

# In a pid namespace of its own, as in a container: samples and side-band agree.
if unshare -p -f --mount-proc true 2>/dev/null; then
	check_status "a pid namespace" 0 unshare -p -f --mount-proc "$PERF_GPU" record ./marker_calls 10
	expect "has its own pids" "outer main" \
		"$(perf script -F ip,sym 2>/dev/null | awk 'NF == 2 { print $2 }' | head -n 2 | xargs)"
else
	skip_one "a pid namespace" "unshare can't make one"
fi

# --- losses ----------------------------------------------------------------------

check_status "a tiny ring" 0 "$PERF_GPU" record -m 1 -- ./marker_calls 200000
seen=$(perf script -F event 2>/dev/null | grep -c gpu-launch)
lost=$(sed -n 's/^\[ perf-gpu record: \([0-9,]*\) launch.* lost,.*/\1/p' err | tr -d ,)
expect "what isn't there is counted" 200000 $((seen + lost))
expect_match "and something was lost" '^[1-9]' "$lost"
expect_match "what to do is said" 'launch(es were| was) lost for lack of room: use a larger -m' "$(cat err)"

# It holds all of them, should the recorder get no time while they are made.
check_status "a ring that is large enough" 0 "$PERF_GPU" record -m 64M -- ./marker_calls 30000
expect_match "loses nothing" '0 launches lost' "$(cat err)"

# --- the command -------------------------------------------------------------------

check_status "its status" 7 "$PERF_GPU" record -q sh -c 'exit 7'
expect "with -q in silence" "" "$(cat out err)"
check_status "a crash" 139 "$PERF_GPU" record sh -c 'kill -SEGV $$'
expect_match "which is told" 'sh was ended by signal 11 \(Segmentation fault\)' "$(cat err)"
expect "perf reads what has no launches" "0 " "$(perf script 2>&1 >/dev/null; echo "$? ")"
expect_match "no CUDA is told" 'warning: no process initialized CUDA' "$(cat err)"

expect "stdin" "over there" "$(echo over there | "$PERF_GPU" record -q -- cat)"
expect "options after the command are its own" "-o -q" "$("$PERF_GPU" record -q echo -o -q)"
expect "its environment is clean otherwise" "$(env | grep -v ^_= | sort)" \
	"$("$PERF_GPU" record -q env | grep -vE '^(_|PERF_GPU_[A-Z_]*|CUDA_INJECTION64_PATH)=' | sort)"

rm -f perf.data*
check_status "a command that isn't there" 127 "$PERF_GPU" record no-such-command
expect "is one line" "perf-gpu record: can't run no-such-command: No such file or directory" "$(cat err)"
check_status "a command that can't be executed" 126 "$PERF_GPU" record /etc/passwd
expect "is one line" "perf-gpu record: can't run /etc/passwd: Permission denied" "$(cat err)"
printf '#! /no/such/python3 -u\n' >run-script && chmod 755 run-script
check_status "a script without its interpreter" 127 "$PERF_GPU" record ./run-script
expect "is one line, and names that" \
	"perf-gpu record: can't run ./run-script: it is there, but what it is to be run by isn't: /no/such/python3" "$(cat err)"
check_status "one that is found in PATH" 127 env PATH="$PWD:$PATH" "$PERF_GPU" record run-script
expect_match "is named, too" "can't run run-script: it is there, but .*: /no/such/python3$" "$(cat err)"
"${CC:-cc}" -xc -Wl,--dynamic-linker=/no/such/ld.so -o run-script - <<<'int main(void) { return 0; }'
check_status "a program without its dynamic loader" 127 "$PERF_GPU" record ./run-script
expect_match "likewise" "can't run ./run-script: it is there, but .*: /no/such/ld.so$" "$(cat err)"
rm run-script
expect "no file is left of them" "" "$(files)"

# --- signals ----------------------------------------------------------------------

# signal NAME SCRIPT: sent to the recorder alone, once SCRIPT has said "ready"
signal()
{
	: >out
	# A shell's background jobs ignore SIGINT and SIGQUIT.
	env --default-signal=INT,QUIT "$PERF_GPU" record -q -- bash -c "$2" >out 2>err &
	for _ in $(seq 2000); do
		grep -q ready out && break
		sleep 0.05
	done
	kill -"$1" $!
	wait $!
}

for name in TERM HUP QUIT; do
	signal $name "trap 'echo got $name; exit 3' $name; echo ready; sleep 300 & wait"
	expect "SIG$name reaches the command" "3 ready got $name" "$? $(xargs <out)"
done
signal INT "trap 'echo got TERM; exit 3' TERM; echo ready; sleep 300 & wait"
expect "SIGINT ends it, as perf does" "3 ready got TERM" "$? $(xargs <out)"
expect "a recording is made" "perf.data perf.data.gpu perf.data.old perf.data.old.gpu" "$(files)"

if has python3; then
	cat >terminal.py <<-'END'
		# The terminal's ^C goes to the command; the recorder waits for what it does.
		import os, pty, sys
		pid, fd = pty.fork()
		if pid == 0:
		    os.execv(sys.argv[1], [sys.argv[1], "record", "-q", "bash", "-c",
		        "trap 'sleep 0.3; echo cleaned; exit 5' INT; echo ready; while :; do sleep 0.1; done"])
		text = b""
		try:
		    while True:
		        data = os.read(fd, 4096)
		        text += data
		        if b"ready" in data:
		            os.write(fd, b"\x03")
		except OSError:
		    pass
		print("cleaned" in text.decode(), os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
	END
	expect "^C is the command's to handle" "True 5" "$(python3 terminal.py "$PERF_GPU")"
else
	skip_one "^C is the command's to handle" "python3 isn't installed"
fi

# shellcheck disable=SC2016 # for the inner shells
check_status "ignored signals stay so" 0 bash -c \
	'trap "" HUP; "$1" record -q sh -c "kill -HUP \$PPID; sleep 0.2"' - "$PERF_GPU"

"$PERF_GPU" record -q -- sh -c 'trap "exit 3" TERM; echo ready; while :; do sleep 0.1; done' >out 2>err &
for _ in $(seq 600); do
	grep -q ready out && break
	sleep 0.1
done
kill -INT $!
wait $!
expect "but SIGINT, which shells ignore in the background, if it is sent to the recorder" 3 $?
if has python3; then
	cat >background.py <<-'END'
		# The terminal's ^C isn't for who ignores it: the recorder goes on until its command ends.
		import os, pty, signal, sys
		pid, fd = pty.fork()
		if pid == 0:
		    signal.signal(signal.SIGINT, signal.SIG_IGN)
		    os.execv(sys.argv[1], [sys.argv[1], "record", "-q", "sh", "-c", "echo ready; read line; exit 4"])
		text = b""
		try:
		    while True:
		        data = os.read(fd, 4096)
		        text += data
		        if b"ready" in data:
		            os.write(fd, b"\x03")
		        if b"^C" in text:
		            os.write(fd, b"\n")
		            text = b""
		except OSError:
		    pass
		print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
	END
	expect "the terminal's stays ignored" 4 "$(python3 background.py "$PERF_GPU")"
else
	skip_one "the terminal's stays ignored" "python3 isn't installed"
fi

# --- files ----------------------------------------------------------------------------

rm -f perf.data*
for i in 1 2 3; do
	"$PERF_GPU" record -q ./marker_calls $i
done
expect "the recording before is kept" "perf.data perf.data.gpu perf.data.old perf.data.old.gpu" "$(files)"
expect "under its name" "3 2" "$(for file in perf.data perf.data.old; do
	perf script -F event -i $file 2>/dev/null | grep -c gpu-launch
done | xargs)"
rm -f perf.data*

# refused STATUS WHAT REGEX COMMAND...: one line, the command isn't run, no file is left
refused()
{
	local status=$1 what=$2 regex=$3
	shift 3

	check_status "$what" "$status" "$@" touch was_run
	expect_match "$what: says so" "$regex" "$(cat err)"
	expect "$what: in one line" 1 "$(wc -l <err)"
	expect "$what: and runs nothing" "" "$(files)"
}

refused 1 "a folder that isn't there" '/no/such/folder/x.*No such file or directory' \
	"$PERF_GPU" record -o /no/such/folder/x
refused 1 "a device" '/dev/null is not a regular file' "$PERF_GPU" record -o /dev/null
refused 129 "a pipe" '-o - is not supported' "$PERF_GPU" record -o -
refused 129 "a stack that is too large" '1 to 65528' "$PERF_GPU" record --call-graph dwarf,65536
refused 129 "a size that is none" 'not 4Q' "$PERF_GPU" record -m 4Q
refused 1 "another injected library" 'CUDA_INJECTION64_PATH is set to /other.so' \
	env CUDA_INJECTION64_PATH=/other.so "$PERF_GPU" record --probe marker
check_status "no command" 129 "$PERF_GPU" record

# A disk that fills up: the command goes on, and what looks like a recording is none.
check_status "no more room" 4 bash -c 'ulimit -f 1000; "$@"' - "$PERF_GPU" record \
	./marker_calls -s 1 200000 sh -c 'echo fine; exit 4'
expect "the command goes on" "fine" "$(cat out)"
expect_match "it is told" 'cannot write perf.data: File too large' "$(cat err)"
expect_match "with what follows" 'recording stops; ./marker_calls goes on' "$(cat err)"
expect_match "and what is kept" 'what was recorded is kept: perf-gpu inject --recover -i perf.data' "$(cat err)"
expect "once" 3 "$(wc -l <err)"
expect_match "nothing is left that looks like a recording" \
	'^perf.data.[A-Za-z0-9]{6} perf.data.gpu.spool.[A-Za-z0-9]{6}$|^perf.data.gpu.spool.[A-Za-z0-9]{6} perf.data.[A-Za-z0-9]{6}$' \
	"$(files)"
check_status "it becomes one" 0 "$PERF_GPU" inject --recover -o recovered.data
expect "and nothing else" "perf.data perf.data.gpu recovered.data recovered.data.dso" "$(files)"
rm -r perf.data perf.data.gpu recovered.data*
check_status "status 1 if the command has 0" 1 bash -c 'ulimit -f 1000; "$@"' - "$PERF_GPU" record \
	./marker_calls -s 1 200000

# --- rights ----------------------------------------------------------------------------

if has setpriv; then
	as_nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups)
	chmod 755 "$TMP"
	mkdir nobody
	chown 65534:65534 nobody
	if "${as_nobody[@]}" test -x "$PERF_GPU"; then
		cd nobody || exit 1
		check_status "no rights" 1 "${as_nobody[@]}" "$PERF_GPU" record --stacks uprobe touch was_run
		expect "name what is missing" "perf-gpu record: this user may not use BPF; run it with sudo, or with the capabilities CAP_BPF and CAP_PERFMON (setcap cap_bpf,cap_perfmon+ep on the perf-gpu binary)" \
			"$(cat ../err)"
		expect "and run nothing" "" "$(files)"
		check_status "no rights for --share" 1 "${as_nobody[@]}" "$PERF_GPU" record --share touch was_run
		expect_match "say what takes them" \
			'^perf-gpu record: --share and --probe api need uprobes: this user may not use BPF; run it with' \
			"$(cat ../err)"
		install -m 600 /dev/null ../of_root.data
		check_status "root's recording" 1 "${as_nobody[@]}" "$PERF_GPU" report -i ../of_root.data
		expect "is root's" "perf-gpu report: cannot open ../of_root.data: Permission denied (what root has recorded, only root can read)" \
			"$(cat ../err)"
		rm ../of_root.data
		check_status "CAP_BPF and CAP_PERFMON" 0 "${as_nobody[@]}" \
			--inh-caps=-all,+bpf,+perfmon --ambient-caps=-all,+bpf,+perfmon \
			"$PERF_GPU" record ../marker_calls 1000
		expect_match "are enough" '1,000 launches of 1 process' "$(cat ../err)"
		cd ..
	else
		skip_one "no rights" "the build is not for others to read"
	fi
else
	skip_one "no rights" "setpriv isn't installed"
fi

# What has no build id in itself either is nobody's loss, as long as it can be looked at.
"${CC:-cc}" -std=gnu11 -D_GNU_SOURCE -O2 -Wl,--build-id=none "$TESTS/workloads/marker_calls.c" \
	-o gone -ldl || exit 1
check_status "a file without a build id" 0 "$PERF_GPU" record ./gone 10
expect_no_match "is no loss" 'build id' "$(cat err)"
check_status "a file that can't be looked at any more" 0 "$PERF_GPU" record bash -c './gone 10; rm gone'
expect "is told" "perf-gpu record: warning: 1 mapped file has no build id in the recording, since it could not be read ($PWD/gone: No such file or directory): functions may be missing, or be those of another build" \
	"$(grep 'build id' err)"
