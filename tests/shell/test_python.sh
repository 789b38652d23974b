#!/bin/bash
# Python's functions in the stacks: of every CPython here, by walking and by trampolines
. "$(dirname "$0")/lib.sh"
need root bpf fake_cuda python3

# One interpreter of each version, of those in the path and of pyenv's
interpreters()
{
	local python

	for python in python3 python3.{8..14} "${PYENV_ROOT:-${HOME:-}/.pyenv}"/versions/3.*/bin/python3; do
		"$python" -c 'import ctypes, sys
if (3, 8) <= sys.version_info[:2] <= (3, 14):
    print("3.%d" % sys.version_info[1], sys.executable)' 2>/dev/null
	done | sort -u -k 1,1 -V
}

# record_python WHAT PYTHON [RECORD_OPTION...] [-- PYTHON_OPTION...]: into perf.data, truth
record_python()
{
	local what=$1 python=$2 options=()
	shift 2

	while [ $# -gt 0 ] && [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	[ $# -eq 0 ] || shift
	rm -f truth
	run_fake check_status "$what: it runs" 0 "$PERF_GPU" record "${options[@]}" -- \
		"$python" "$@" "$WORKLOADS_SOURCE/python_stacks.py" truth
	expect_no_match "$what: nothing to warn of" "warning" "$(cat err)"
}

stacks()
{
	"$PERF_GPU" script -F ip,sym,dso,srcline "$@" 2>/dev/null
}

check_stacks()
{
	check "$1: every stack is Python's own" bash -c \
		"python3 '$WORKLOADS_SOURCE/check_python_stacks.py' truth ${2:-} <stacks.txt"
}

WORKLOADS_SOURCE=$TESTS/workloads
mapfile -t found < <(interpreters)
[ ${#found[@]} -gt 0 ] || fail "there is an interpreter"

for entry in "${found[@]}"; do
	version=${entry%% *} python=${entry#* }
	record_python "$version" "$python"
	stacks >stacks.txt
	check_stacks "$version"
	expect "$version: no frame of the loop is left" 0 "$(grep -c _PyEval_EvalFrameDefault stacks.txt)"
	expect_match "$version: what starts the interpreter stays" 'Py_RunMain' "$(cat stacks.txt)"
	stacks --keep-interpreter-frames >kept
	expect_match "$version: it can be kept" '_PyEval_EvalFrameDefault' "$(cat kept)"

	record_python "$version -O" "$python" -- -O
	stacks >stacks.txt
	check_stacks "$version -O"
	if [ "${version#3.}" -ge 12 ]; then
		record_python "$version by trampolines" "$python" --python=trampoline
		stacks >stacks.txt
		check_stacks "$version by trampolines" --no-lines
		expect "$version by trampolines: no frame of the loop is left" 0 \
			"$(grep -c _PyEval_EvalFrameDefault stacks.txt)"
		record_python "$version by both" "$python" -- -X perf
		stacks >stacks.txt
		check_stacks "$version by both"
	fi
done

# --- a Python that is loaded after CUDA ---------------------------------------------

# libpython of an interpreter, if it has one, and its home
shared_library()
{
	"$1" -c 'import os, sys, sysconfig
path = os.path.join(*map(sysconfig.get_config_var, ("LIBDIR", "INSTSONAME")))
print(path if os.path.exists(path) and ".so" in path else "", sys.base_prefix)'
}

for entry in "${found[@]}"; do
	version=${entry%% *} python=${entry#* }
	read -r library home < <(shared_library "$python")
	if [ -z "$home" ]; then
		skip_one "$version: loaded by a program" "it has no libpython"
		continue
	fi
	run_fake check_status "$version: loaded by a program" 0 "$PERF_GPU" record -- \
		env PYTHONHOME="$home" "$WORKLOADS/python_embed" "$library" 3
	expect "$version: its functions are seen after a while" \
		"py::late:<string> py::<module>:<string>" "$(stacks | grep -o 'py::[^ ]*' | xargs)"
	expect "$version: so are launches without Python" 5 \
		"$(stacks | grep -c 'GPU_Kernel\]plain_kernel')"
done

# --- what users see ---------------------------------------------------------------

record_python "off" python3 --python=off
expect "off: no function of Python's" 0 "$(stacks | grep -c 'py::')"
expect_match "off: the interpreter instead" '_PyEval_EvalFrameDefault' "$(stacks)"
check_status "an unknown way is refused" 129 "$PERF_GPU" record --python=guess -- true
expect_match "and named" '--python takes walk, trampoline or off, not guess' "$(cat err)"

record_python "stock perf" python3
check_status "inject makes symbols of Python's functions" 0 "$PERF_GPU" inject -o injected.data
if has perf; then
	expect_match "which perf shows" 'py::from_callback\.<locals>\.compare:|py::compare:' \
		"$(perf script -i injected.data -F ip,sym 2>/dev/null)"
fi
