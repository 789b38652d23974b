#!/bin/bash
# What the injected library loads, obeys and exports
. "$(dirname "$0")/lib.sh"
need root bpf fake_cuda readelf nm strace setpriv plain

export FAKE_CUDA_INSTANT=1
LIBRARY=$O/lib/perf-gpu/libperf-gpu-inject.so
CC=${CC:-cc}
umask 022
chmod 755 "$TMP"
mkdir here && cd here || exit 1

# --- the files ---------------------------------------------------------------------------------

expect "it exports what the driver, NVTX, programs and probes look for" "InitializeInjection
InitializeInjectionNvtx2
InitializeInjectionNvtxExtension
perf_gpu_launch
perf_gpu_launch_forked
perf_gpu_pause
perf_gpu_resume" "$(nm -D --defined-only "$LIBRARY" | awk '{print $3}' | sort)"
expect "which is code, all of it: no variable is" T "$(nm -D --defined-only "$LIBRARY" | awk '{print $2}' | sort -u)"
expect "it links the C library alone" 'ld-linux
libc.so' "$(readelf -dW "$LIBRARY" | sed -n 's/.*NEEDED.*\[\(ld-linux\|libc\.so\).*/\1/p; s/.*NEEDED.*\[\([^]]*\)\]/other \1/p' | sort -u)"
for file in "$LIBRARY" "$PERF_GPU"; do
	name=$(basename "$file")
	expect_match "$name: all addresses are bound at the start" 'FLAGS_1.*NOW' "$(readelf -dW "$file")"
	expect_match "$name: and can't be written then" 'GNU_RELRO' "$(readelf -lW "$file")"
	expect_match "$name: the table of functions' among them" '^ .*\.got' \
		"$(readelf -lW "$file" | grep -A99 'Section to Segment' | grep "$(readelf -lW "$file" | awk '/Type +Offset/ {n = 0; next} /^  [A-Z]/ {if ($1 == "GNU_RELRO") printf "%02d", n; n++}')")"
	expect_no_match "$name: nor have code put in" '^ .* (RWE|RW E)|GNU_STACK.*E ' "$(readelf -lW "$file")"
	expect_no_match "$name: no folder is looked into because the file says so" 'RPATH|RUNPATH|TEXTREL' "$(readelf -dW "$file")"
done

# --- the current folder -----------------------------------------------------------------------------

# Each says so when it is loaded.
cat >planted.c <<'END'
#include <fcntl.h>
#include <unistd.h>

__attribute__((constructor)) static void loaded(void)
{
	int fd = open(LOADED, O_WRONLY | O_CREAT | O_APPEND, 0666);

	if (write(fd, NAME "\n", sizeof(NAME)) < 0)
		_exit(99);
	close(fd);
}
END
mkdir lib64 relative
for name in libcupti.so libcupti.so.13 libcupti.so.12 libunwind.so.8 libunwind-x86_64.so.8 libunwind-aarch64.so.8; do
	for folder in . lib64 relative; do
		$CC -shared -fPIC -o $folder/$name planted.c -DLOADED="\"$TMP/loaded\"" -DNAME="\"$folder/$name\"" || exit 1
	done
done
touch "$TMP/loaded"

# A copy of the library that has no libunwind beside it, and a CUDA without CUPTI beside it
mkdir -p "$TMP/copy/lib/perf-gpu" "$TMP/cuda" "$TMP/cupti"
cp "$PERF_GPU" "$TMP/copy" && cp "$LIBRARY" "$TMP/copy/lib/perf-gpu"
ln -s "$FAKE_CUDA"/libcuda.so.1 "$FAKE_CUDA"/libcudart.so.13 "$TMP/cuda"
ln -s "$FAKE_CUDA"/libcupti.so.13 "$TMP/cupti"

# record LD_LIBRARY_PATH COMMAND...: the copy
record()
{
	local path=$1
	shift

	LD_LIBRARY_PATH=$path "$TMP/copy/perf-gpu" record "$@" >out 2>err
}

for path in ":$TMP/cuda" "$TMP/cuda:" "$TMP/cuda::" "$TMP/cuda:.:relative" "relative;$TMP/cuda" "$TMP/cuda:./relative:../here"; do
	record "$path" "$WORKLOADS/launches" -n 10
	expect "nothing of it with LD_LIBRARY_PATH=${path//$TMP/...}" "" "$(cat "$TMP/loaded")"
done
CUDA_HOME=. CUDA_PATH=relative/.. CUDA_ROOT="" record "$TMP/cuda" "$WORKLOADS/launches" -n 10
expect "nor with CUDA_HOME=." "" "$(cat "$TMP/loaded")"
record ":.:$TMP/cuda::$TMP/cupti:relative" "$WORKLOADS/launches" -n 10
expect "but from an absolute folder between them" "" "$(cat "$TMP/loaded")"
expect_match "from where all is recorded" '^\[ perf-gpu record: 10 launches ' "$(cat err)"
expect "with what the GPU did" 10 "$("$PERF_GPU" script 2>/dev/null | grep -c gpu-kernel:)"
LD_LIBRARY_PATH=. "$CC" -o probe_planted -xc - -ldl <<'END' && LD_LIBRARY_PATH='' ./probe_planted
#include <dlfcn.h>
int main(void) { return !dlopen("./libcupti.so.13", RTLD_NOW); }
END
expect "what was planted would have said so" "./libcupti.so.13" "$(tr -d '\0' <"$TMP/loaded")"
rm -f "$TMP/loaded" && touch "$TMP/loaded"

# Neither it nor a recorder asks the kernel for such a file.
LD_LIBRARY_PATH=$TMP/cuda:$TMP/cupti strace -f -o trace -e trace=open,openat,execve \
	"$TMP/copy/perf-gpu" record "$WORKLOADS/launches" -n 10 >out 2>err
expect "no other relative file is opened than the recording" "" \
	"$(sed -n 's/.*open\(at\)\?(\(AT_FDCWD, \)\?"\([^/"][^"]*\)".*/\3/p' trace | grep -v '^\(perf\.data.*\|\.\)$' | sort -u)"

# --- a set-uid program -----------------------------------------------------------------------------

$CC -o load_library "$TESTS/workloads/load_library.c" -ldl || exit 1
mkdir -m 777 "$TMP/spool"
$CC -shared -fPIC -o "$TMP/tool.so" planted.c -DLOADED="\"$TMP/loaded\"" -DNAME='"tool"'
$CC -shared -fPIC -o "$TMP/cupti.so" planted.c -DLOADED="\"$TMP/loaded\"" -DNAME='"cupti"'
chmod 666 "$TMP/loaded"
# run [VARIABLE...] PROGRAM: by another user, with all that the library obeys
run()
{
	setpriv --reuid 65534 --regid 65534 --clear-groups env PERF_GPU_SPOOL="$TMP/spool" \
		PERF_GPU_SESSION=0123456789abcdef PERF_GPU_LOG_SERVER=server PERF_GPU_EVENTS=7,nvtx \
		PERF_GPU_CUPTI="$TMP/cupti.so" PERF_GPU_NVTX_NEXT="$TMP/tool.so" NVTX_INJECTION64_PATH="$LIBRARY" \
		CUDA_HOME="$TMP" LD_LIBRARY_PATH="$TMP/cupti" "$@" "$LIBRARY" 2>&1
}

# As it is, so that the rest means something
run ./load_library >/dev/null
expect "a program that is as its user obeys it all" "cupti tool" "$(tr -d '\0' <"$TMP/loaded" | sort -u | xargs)"
expect "and makes a log" 1 "$(find "$TMP/spool" -name '*.gpulog' | wc -l)"
rm -f "$TMP"/spool/*; : >"$TMP/loaded"
chmod 4755 load_library
secure=$(run ./load_library)
if [ "$(run ./load_library | grep -c mapped)" = 0 ] || findmnt -T . -o OPTIONS -n | grep nosuid >/dev/null; then
	skip_one "a set-uid program" "nothing is set-uid on this file system"
else
	expect "a set-uid one obeys none of it" "" "$(cat "$TMP/loaded")"
	expect "and makes no log" 0 "$(find "$TMP/spool" -type f | wc -l)"
	expect "nor loads anything" "" \
		"$(grep '^mapped' <<<"$secure" | grep -v "^mapped \(/.*/\(ld-linux\|libc\.so\|libc-\|libdl\).*\|$PWD/load_library\|$LIBRARY\)\$")"
	expect "nor has anything open" "" "$(grep -E '^open .*(memfd|gpulog|gpulaunch)' <<<"$secure")"
	waiting=$(run PERF_GPU_WAIT=1 PERF_GPU_SESSION= ./load_library)
	expect "nor does it wait for a recorder" "$secure" "$waiting"
	chmod 755 load_library
	expect_match "as one does that is its user's" memfd "$(run env -u PERF_GPU_SESSION PERF_GPU_WAIT=1 ./load_library)"
fi
