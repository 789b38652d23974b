#!/bin/bash
# Symbols come from the recorded build of a file, wherever that is, and from no other.

# shellcheck source=tests/shell/lib.sh
. "$(dirname "$0")/lib.sh"
need root bpf perf fake_cuda objcopy

export HOME=$TMP # of perf's build-id cache
export DEBUGINFOD_URLS=
unset PERF_BUILDID_DIR
app=$TMP/app

# The program's frames in a stack, named as in the text on standard input
frames()
{
	awk -v file="($app)" '/^$/ { exit } $NF == file { sub(/\+0x.*/, "", $2); print $2 }' | xargs
}

# Of perf-gpu script, with more arguments
our_frames()
{
	"$PERF_GPU" script "$@" 2>err | frames
}

# Of perf script, on what inject writes
perf_frames()
{
	"$PERF_GPU" inject -q && perf script -i perf.gpu.data 2>perf.err | frames
}

record()
{
	check_status "$1" 0 run_fake "$PERF_GPU" record "$app" -n 3
}

named="plain_kernel__launch main _start"
unknown="[unknown] [unknown] [unknown]"

# --- built anew ------------------------------------------------------------------------

cp "$WORKLOADS/launches" "$app"
record "a program is recorded"
expect "its functions have names" "$named" "$(our_frames)"
expect "which nothing is said about" "" "$(cat err)"
expect "perf has the same" "$named" "$(perf_frames)"

# Another program has functions at the same places, just not the same.
mv "$app" kept
cp "$WORKLOADS/processes" "$app"
expect "built anew, it has no names any more" "$unknown" "$(our_frames)"
expect "and is named once" 1 "$(grep -c "warning: $app is not the one that was recorded" err)"
expect_match "with what to do" '--symfs, or record again$' "$(cat err)"
expect "other files keep their names" 1 \
	"$("$PERF_GPU" script 2>/dev/null | awk '/__libc_start_main/ { nr++ } /^$/ { print nr; exit }')"
expect "perf has no names for it either" "$unknown" "$(perf_frames)"

rm "$app"
expect "a file that is gone has no names" "$unknown" "$(our_frames)"
expect "which nothing is said about" "" "$(cat err)"
cp "$WORKLOADS/processes" "$app"

# --- built anew while it is recorded ------------------------------------------------------

# The builds of what was mapped, of which the file is no more one
mapped_builds()
{
	perf script -i perf.data --show-mmap-events | grep -F " $app" | grep -oE '<[0-9a-f]{40}>' |
		tr -d '<>' | xargs
}
cp kept "$app"
first=$(readelf -n "$app" | awk '/Build ID/ { print $3 }')
check_status "a program is replaced behind its start" 0 run_fake "$PERF_GPU" record \
	sh -c "'$app' -n 3; rm '$app'; cp '$WORKLOADS/processes' '$app'"
expect "the build that ran is known" "$first" "$(mapped_builds)"
expect "to perf, too" "$first" "$(perf buildid-list | awk -v file="$app" '$2 == file { print $1 }')"
expect "so that no other's names are taken" "$unknown" "$(our_frames)"
mkdir -p "root/$TMP"
cp kept "root/$app"
expect "but its own" "$named" "$(our_frames --symfs root)"
rm -r root

if has plain; then
	cp kept "$app"
	# shellcheck disable=SC2031 # for the recorder alone
	check_status "a kernel that doesn't tell builds" 0 run_fake \
		env LD_PRELOAD="$O/tests/tools/libold-kernel.so" "$PERF_GPU" record "$app" -n 3
	expect "says none of what is mapped" "" "$(mapped_builds)"
	expect "files are read" "$first" "$(perf buildid-list | awk -v file="$app" '$2 == file { print $1 }')"
	expect "and have names" "$named" "$(our_frames)"
	cp "$WORKLOADS/processes" "$app"
	expect "and none once they are others" "$unknown" "$(our_frames)"
else
	skip_one "a kernel that doesn't tell builds" "$(why_not plain)"
fi

# --- where the recorded build is -----------------------------------------------------------

mkdir -p "root/$TMP"
cp kept "root/$app"
expect "--symfs finds it" "$named" "$(our_frames --symfs root)"
expect "which nothing is said about" "" "$(cat err)"
check "inject takes --symfs" "$PERF_GPU" inject -q --symfs root
cp "$app" "root/$app"
expect "another build below --symfs has no names" "$unknown" "$(our_frames --symfs root)"
expect_match "and is named by its path there" "warning: root$app is not" "$(cat err)"

check "it is put into perf's cache" perf buildid-cache -a kept
expect "perf's cache has it" "$named" "$(our_frames)"
expect "which nothing is said about" "" "$(cat err)"
expect "for perf too" "$named" "$(perf_frames)"
mv .debug cache
expect "elsewhere it doesn't" "$unknown" "$(our_frames)"
expect "but where PERF_BUILDID_DIR says so" "$named" "$(PERF_BUILDID_DIR=$TMP/cache our_frames)"
mv cache root/.debug
expect "or below --symfs" "$named" "$(our_frames --symfs root)"
rm -r root

build_id=$(perf buildid-list | awk -v file="$app" '$2 == file { print $1 }')
mkdir -p "root/usr/lib/debug/.build-id/${build_id:0:2}"
cp kept "root/usr/lib/debug/.build-id/${build_id:0:2}/${build_id:2}.debug"
expect "so does the place of debug files" "$named" "$(our_frames --symfs root)"
rm -r root

# --- names in a file of their own ------------------------------------------------------

objcopy --only-keep-debug kept app.debug
objcopy --strip-all --add-gnu-debuglink=app.debug kept "$app"
record "a stripped program is recorded"
expect "its debug file has the names" "$named" "$(our_frames)"
expect "for perf too" "$named" "$(perf_frames)"
mkdir -p "root/$TMP"
mv "$app" app.debug "root/$TMP"
expect "both are found below --symfs" "$named" "$(our_frames --symfs root)"
mkdir -p "root/usr/lib/debug/.build-id/${build_id:0:2}"
mv "root/$TMP/app.debug" "root/usr/lib/debug/.build-id/${build_id:0:2}/${build_id:2}.debug"
expect "and a debug file by build id" "$named" "$(our_frames --symfs root)"
objcopy --only-keep-debug "$WORKLOADS/processes" "root/$TMP/app.debug"
rm -r root/usr
expect "but none of another build" "$unknown" "$(our_frames --symfs root)"

# --- a runtime in the program ----------------------------------------------------------------

if has nvcc; then
	cp "$WORKLOADS/truth_static_fake" "$app"
	check_status "a program with its own CUDA runtime is recorded" 0 \
		run_fake "$PERF_GPU" record "$app"
	check "inject tells the runtime's frames by their symbols" "$PERF_GPU" inject -q
	expected=$(perf script -i perf.gpu.data -F ip | head -n 20)
	mkdir -p "root/$TMP"
	mv "$app" "root/$app"
	check "also below --symfs" "$PERF_GPU" inject -q --symfs root
	expect "with the same result" "$expected" "$(perf script -i perf.gpu.data -F ip | head -n 20)"
else
	skip_one "inject tells the runtime's frames by their symbols" "$(why_not nvcc)"
fi
