#!/bin/bash
# hotspot and tui inject when that is due, and become the program; perf script's flame graph
. "$(dirname "$0")/lib.sh"
need python3

fixture=$TESTS/data/h200/two_streams
scripts=$TESTS/../scripts/python
export HOME=$TMP/home
unset XDG_CACHE_HOME DISPLAY WAYLAND_DISPLAY QT_QPA_PLATFORM
mkdir home bin work
cp "$fixture"/perf.data "$fixture"/perf.data.gpu work/
cd work || exit 1

# Doubles say what they were given, and end with a status of their own.
for program in perf hotspot; do
	cat >"$TMP/bin/$program" <<-END
		#!/bin/sh
		echo "$program" "\$@"
		exit 7
	END
	chmod +x "$TMP/bin/$program"
done

# With the doubles before anything else
open_with_doubles()
{
	PATH=$TMP/bin:$PATH "$PERF_GPU" "$@"
}

identity()
{
	stat -c '%i %Y' "$1"
}

# made_anew WHAT yes|no COMMAND...: does COMMAND inject?
made_anew()
{
	local what=$1 wanted=$2 before got=no
	shift 2

	before=$(identity perf.gpu.data)
	open_with_doubles "$@" >/dev/null 2>&1
	[ "$before" = "$(identity perf.gpu.data)" ] || got=yes
	expect "$what" "$wanted" "$got"
}

check_status "tui: the status is perf's" 7 open_with_doubles tui
expect "perf report gets the injected file" "perf report -i $TMP/work/perf.gpu.data" \
	"$(cat "$TMP/out")"
expect_match "the first time, it is injected" 'GPU kernels' "$(cat "$TMP/err")"
"$PERF_GPU" inject -q --unwind -o "$TMP/plain.data"
expect "as inject does it" "$(stat -c %s "$TMP/plain.data.dso/[GPU_Kernel]")" \
	"$(stat -c %s "perf.gpu.data.dso/[GPU_Kernel]")"
check_status "tui: options behind -- are perf's" 7 open_with_doubles tui -- --stdio -F 'a b'
expect "and come last" "perf report -i $TMP/work/perf.gpu.data --stdio -F a b" "$(cat "$TMP/out")"
expect "the second time, nothing is said" "" "$(cat "$TMP/err")"

check_status "hotspot: the status is hotspot's" 7 env DISPLAY=:99 PATH="$TMP/bin:$PATH" \
	"$PERF_GPU" hotspot -- --sysroot /x
expect "hotspot gets the injected file and its options" \
	"hotspot $TMP/work/perf.gpu.data --sysroot /x" "$(cat "$TMP/out")"

made_anew "what is up to date stays" no tui
made_anew "and stays for -i with another spelling" no tui -i "$TMP/work/perf.data"
touch perf.data
made_anew "a recording that has changed is injected" yes tui
touch perf.data.gpu
made_anew "and so is one whose sidecar has" yes tui
made_anew "other options make it anew" yes tui --names short
made_anew "the same ones don't" no tui --names short
made_anew "-v is none of them" no tui -v --names short
made_anew "none make it anew again" yes tui
"$PERF_GPU" inject -q --names mangled
made_anew "what inject itself has written is replaced" yes tui
rm "perf.gpu.data.dso/[GPU_Kernel]"
made_anew "lost symbols are made again" yes tui
mkdir "$TMP/moved" && cp -a ./* "$TMP/moved/"
(cd "$TMP/moved" && open_with_doubles tui -q >/dev/null)
expect_match "a copy has its own symbols" "^output: $TMP/moved/perf.gpu.data" \
	"$(cat "$TMP/moved/perf.gpu.data.dso/made-of")"
cp perf.data run.3.data && cp perf.data.gpu run.3.data.gpu
check_status "another recording in the folder" 7 open_with_doubles tui -i run.3.data
expect "has a file of its own" "perf report -i $TMP/work/run.3.gpu.data" "$(cat "$TMP/out")"

check_status "-g and -e are read as by other commands" 7 open_with_doubles tui \
	-i run.3.data -g perf.data.gpu -e gpu-kernel
expect_match "and injected" 'GPU kernels' "$(cat "$TMP/err")"
expect_match "with the event that was chosen" '^event: gpu-kernel$' "$(cat run.3.gpu.data.dso/made-of)"
check_status "an unknown event is refused" 129 open_with_doubles tui -e nonsense

# one_line WHAT REGEX COMMAND...: COMMAND fails with one line
one_line()
{
	local what=$1 regex=$2
	shift 2

	check_status "$what: fails" 1 "$@"
	expect_match "$what: says why" "$regex" "$(cat "$TMP/err")"
	expect "$what: in one line" 1 "$(wc -l <"$TMP/err")"
}

one_line "no perf" 'perf is not on PATH: install linux-perf' env PATH=/nonexistent "$PERF_GPU" tui
one_line "no hotspot" 'hotspot is not on PATH: install' env PATH=/nonexistent "$PERF_GPU" hotspot
one_line "no display" 'neither DISPLAY nor WAYLAND_DISPLAY' open_with_doubles hotspot
one_line "no recording" 'nothing\.data could not be opened' open_with_doubles tui -i nothing.data
for variable in DISPLAY WAYLAND_DISPLAY QT_QPA_PLATFORM; do
	check_status "$variable is a display" 7 env "$variable=x" PATH="$TMP/bin:$PATH" \
		"$PERF_GPU" hotspot
done
check_status "and so is -platform" 7 open_with_doubles hotspot -- -platform offscreen
check_status "an argument without -- is refused" 129 open_with_doubles tui foo
check_status "and standard input, which is no file to keep something of" 129 open_with_doubles tui -i -
expect_match "with what to do" "give that to perf-gpu inject -i -" "$(cat "$TMP/err")"
check_status "and an unknown option" 129 open_with_doubles tui --stdio
echo nonsense >broken.data
check_status "a broken recording fails" 1 open_with_doubles tui -i broken.data
check "and leaves nothing" test ! -e broken.gpu.data

if has root && has setpriv; then
	chmod 755 "$TMP" "$TMP/work"
	mkdir "$TMP/cache" && chmod 777 "$TMP/cache"
	# A folder that isn't its user's; the command may be where they can't go.
	cp "$PERF_GPU" "$TMP/bin/perf-gpu"
	rm -rf perf.gpu.data*
	nobody()
	{
		setpriv --reuid=65534 --regid=65534 --clear-groups env -u XDG_CACHE_HOME -u HOME PATH="$TMP/bin:$PATH" "$@"
	}
	check_status "a folder that can't be written: the cache" 7 nobody \
		XDG_CACHE_HOME="$TMP/cache" perf-gpu tui
	expect_match "has the file" "^perf report -i $TMP/cache/perf-gpu/[0-9a-f]{16}/perf.gpu.data$" \
		"$(cat "$TMP/out")"
	check_status "again" 7 nobody XDG_CACHE_HOME="$TMP/cache" perf-gpu tui
	expect "it is up to date there" "" "$(cat "$TMP/err")"
	one_line "no cache either" 'set one, or choose a file with' nobody perf-gpu tui
	open_with_doubles tui -q >/dev/null
	chmod a+r perf.gpu.data perf.gpu.data.dso/*
	check_status "root's file beside it, once it can be read," 7 nobody perf-gpu tui
	expect "is read by others" "perf report -i $TMP/work/perf.gpu.data" "$(cat "$TMP/out")"
else
	skip_one "a folder that can't be written" "need root and setpriv"
fi

wanted=$("$PERF_GPU" script -q --folded --symfs "$TMP" | awk '{ sum += $NF } END { print sum }')

if has perf; then
	check_status "perf report shows the recording" 0 "$PERF_GPU" tui -- --stdio -g none
	expect_match "with its sum" "^# Event count \(approx\.\): $wanted$" "$(cat "$TMP/out")"
	check_status "and its failure is ours" 129 "$PERF_GPU" tui -- --no-such-option
else
	skip_one "perf report shows the recording" "$(why_not perf)"
fi

# hotspot starts its parser with what it opens, and can be told which.
if has hotspot; then
	parser=$(find /usr/lib* /usr/libexec -name hotspot-perfparser 2>/dev/null | head -n 1)
	cat >"$TMP/bin/parser" <<-END
		#!/bin/sh
		case "\$*" in *--output*) exec "$parser" "\$@" ;; esac
		"$parser" "\$@" --output "$TMP/stream" && echo "\$@" >"$TMP/parsed"
		cat "$TMP/stream"
	END
	chmod +x "$TMP/bin/parser"
	exec 4>"$TMP/display"
	Xvfb -displayfd 4 -nolisten tcp >/dev/null 2>&1 &
	server=$!
	exec 4>&-
	for ((i = 0; i < 1200; i++)); do [ -s "$TMP/display" ] && break; sleep 0.1; done
	DISPLAY=:$(cat "$TMP/display") HOTSPOT_PERFPARSER=$TMP/bin/parser \
		"$PERF_GPU" hotspot >/dev/null 2>"$TMP/err" &
	viewer=$!
	for ((i = 0; i < 1200; i++)); do [ -s "$TMP/parsed" ] && break; sleep 0.1; done
	expect_match "hotspot opens the file" "--input $TMP/work/perf.gpu.data" \
		"$(cat "$TMP/parsed" "$TMP/err" 2>/dev/null)"
	expect "and is the process that was started" hotspot "$(cat /proc/$viewer/comm)"
	expect "with the GPU's time" "$wanted" "$(python3 "$TESTS/tools/hotspot_costs.py" \
		--event gpu-kernel "$TMP/stream" | awk '{ sum += $1 } END { print sum }')"
	kill $viewer $server
	wait $viewer $server 2>/dev/null
else
	skip_one "hotspot opens the file" "$(why_not hotspot)"
fi

has_python_in_perf()
{
	perf version --build-options 2>/dev/null | grep 'libpython: \[ on' >/dev/null
}

if has_python_in_perf; then
	mkdir "$TMP/exec" && mkdir "$TMP/exec/scripts" && cp -r "$scripts" "$TMP/exec/scripts/"
	export PERF_EXEC_PATH=$TMP/exec
	expect_match "perf script -l lists the script" '^ +gpu-flamegraph .*flame graphs of what GPUs did' \
		"$(perf script -l)"
	check_status "folded" 0 perf script report gpu-flamegraph -f folded
	expect "adds up the periods" "$wanted" "$(awk '{ sum += $NF } END { print sum }' "$TMP/out")"
	# Names of script --folded are cut where their parameters begin, but for mangled ones.
	expect "each stack has its own" "$("$PERF_GPU" script -q --folded --symfs "$TMP" --names mangled |
		awk '{ print $NF }' | sort -n)" "$(awk '{ print $NF }' "$TMP/out" | sort -n)"
	expect_match "root first, kernels last" \
		'^two_streams;.*;cudaLaunchKernel;\[GPU_Kernel\]void math::scale<double>\(double\*, double\) [0-9]+$' \
		"$(cat "$TMP/out")"
	check_status "-i and a page" 0 perf script report gpu-flamegraph -i perf.gpu.data -o page.html
	page=$(cat page.html)
	expect_match "its root is the GPU's time" "^const ROOT = \[\"all\",$wanted," "$page"
	expect_no_match "which needs nothing else" 'src=|href=|https?:' "$page"
	expect "and has left nothing beside" page.html "$(ls page.html*)"
	one_line "an event that isn't there" 'no sample of gpu-idle in the file \(it has gpu-kernel' \
		perf script report gpu-flamegraph -e gpu-idle
	one_line "a recording that wasn't injected" "make one with 'perf-gpu inject'" \
		perf script report gpu-flamegraph -i perf.data
	one_line "a page that can't be written" 'could not be written: No such file' \
		perf script report gpu-flamegraph -o nowhere/page.html
	if has root && has bpf && has fake_cuda; then
		check "perf script record gpu-flamegraph is perf gpu record" run_fake env \
			PATH="$O:$PATH" perf script record gpu-flamegraph -o new.data -- \
			"$WORKLOADS/launches" -n 10
		check_status "and is read by the other" 0 sh -c "'$PERF_GPU' inject -q -i new.data \
			-o new.gpu.data && perf script report gpu-flamegraph -i new.gpu.data -f folded"
		expect_match "with its stacks" '^launches;.*cudaLaunchKernel;\[GPU_Kernel\]' \
			"$(cat "$TMP/out")"
	else
		skip_one "perf script record gpu-flamegraph" "need root, bpf and fake_cuda"
	fi
	if has chromium; then
		dom=$(TMPDIR=$TMP chromium --headless --no-sandbox --disable-gpu --user-data-dir="$TMP/chromium" \
			--dump-dom "file://$PWD/page.html" 2>/dev/null)
		expect_match "the page draws its root in a browser" \
			"<div title=\"all: $wanted ns, 100.00 %\"" "$dom"
		expect_match "and kernels" 'title="\[GPU_Kernel\]' "$dom"
	else
		skip_one "the page draws its root in a browser" "$(why_not chromium)"
	fi
else
	skip_one "perf script's flame graph" "perf isn't installed, or built without Python"
fi
