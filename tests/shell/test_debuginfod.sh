#!/bin/bash
# Symbols from the servers of DEBUGINFOD_URLS: asked for what is missing, and nothing else

# shellcheck source=tests/shell/lib.sh
. "$(dirname "$0")/lib.sh"
need root bpf fake_cuda objcopy python3

if ! ldconfig -p | grep 'libdebuginfod\.so\.1 ' >/dev/null; then
	echo "1..0 # SKIP need libdebuginfod: it isn't installed"
	exit 0
fi

export HOME=$TMP/home # of perf's build-id cache, and of the client's
export DEBUGINFOD_CACHE_PATH=$TMP/cache
unset PERF_BUILDID_DIR DEBUGINFOD_URLS DEBUGINFOD_PROGRESS DEBUGINFOD_VERBOSE http_proxy HTTP_PROXY all_proxy ALL_PROXY
mkdir home served
app=$TMP/app
named="plain_kernel__launch main _start"
unknown="[unknown] [unknown] [unknown]"

python3 "$TESTS/tools/debuginfod_server.py" served port requests 2>server.err &
server=$!
trap 'kill $server 2>/dev/null; cleanup' EXIT
while [ ! -e port ]; do
	kill -0 $server 2>/dev/null || {
		fail "a server of debug files is there" "$(cat server.err)"
		exit 1
	}
	sleep 0.05
done
url=http://127.0.0.1:$(cat port)

# frames URL [OPTION...]: the program's in the first stack, with nothing cached
frames()
{
	local urls=$1
	shift
	rm -rf cache requests
	DEBUGINFOD_URLS=$urls "$PERF_GPU" script "$@" 2>err |
		awk -v file="($app)" '/^$/ { exit } $NF == file { sub(/\+0x.*/, "", $2); print $2 }' | xargs
}

# What the server was asked for, of the program
requests()
{
	grep "^$id " requests 2>/dev/null
}

objcopy --only-keep-debug "$WORKLOADS/launches" debug
objcopy --strip-all --remove-section .gnu_debuglink "$WORKLOADS/launches" "$app"
id=$(readelf -n "$app" | awk '/Build ID/ { print $3 }')
mkdir "served/$id"
cp debug "served/$id/debuginfo"
cp "$app" "served/$id/executable"
check_status "a stripped program is recorded" 0 run_fake "$PERF_GPU" record -q "$app" -n 3

# --- a debug file --------------------------------------------------------------------------

expect "without a server it has no names" "$unknown" "$(frames "")"
expect "an empty variable asks none" "" "$(cat requests 2>/dev/null)"
unset DEBUGINFOD_URLS
"$PERF_GPU" script -q >/dev/null
expect "nor does none" "" "$(cat requests 2>/dev/null)"
expect "with one it has those of its debug file" "$named" "$(frames "$url")"
expect "which was asked for, once" "$id debuginfo" "$(requests)"
expect "and nothing is said" "" "$(cat err)"
: >requests
DEBUGINFOD_URLS=$url "$PERF_GPU" script -q >/dev/null
expect "it is kept" "" "$(requests)"
expect "of several servers, each may have it" "$named" "$(frames "$url/none $url")"
check_status "-v tells of it" 0 env DEBUGINFOD_URLS="$url" "$PERF_GPU" script -v
expect_match "by its path" "$app: its debug file from a debuginfod server" "$(cat err)"

mv "$app" stripped
cp "$WORKLOADS/launches" "$app"
expect "where all functions have names" "$named" "$(frames "$url")"
expect "nobody is asked" "" "$(requests)"

# --- the file itself -------------------------------------------------------------------------

rm "$app"
expect "a file that is gone comes from the server" "$named" "$(frames "$url")"
expect "with its debug file" $'executable\ndebuginfo' "$(requests | cut -d ' ' -f 2)"
cp "$WORKLOADS/processes" "$app"
expect "and so does one that is another by now" "$named" "$(frames "$url")"
expect "of which nothing is said then" "" "$(cat err)"
mv "served/$id/executable" kept
expect "its debug file alone doesn't tell where functions are" "$unknown" "$(frames "$url")"
expect "so that it isn't asked for" executable "$(requests | cut -d ' ' -f 2)"
mv "served/$id/debuginfo" kept.debug
expect "what no server has has no names" "$unknown" "$(frames "$url")"
expect "which is said of the file that is another, and of no server" 1 "$(wc -l <err)"
cp "$WORKLOADS/processes" "served/$id/executable"
expect "another build from a server isn't taken" "$unknown" "$(frames "$url")"
echo nonsense >"served/$id/executable"
cp "served/$id/executable" "served/$id/debuginfo"
expect "nor is nonsense" "$unknown" "$(frames "$url")"
mv kept "served/$id/executable"
mv kept.debug "served/$id/debuginfo"

# --- stacks that were copied -------------------------------------------------------------------

mkdir dwarf
mv stripped "$app"
check_status "stacks are copied" 0 run_fake "$PERF_GPU" record -q --call-graph dwarf -o dwarf/perf.data "$app" -n 3
rm "$app"
expect "they are unwound by a file from the server" "$named" "$(frames "$url" -i dwarf/perf.data)"

# --- archives ------------------------------------------------------------------------------------

if "$PERF_GPU" version -b | grep 'libarchive: \[ on' >/dev/null; then
	rm -rf cache
	check_status "an archive has what the server has" 0 env DEBUGINFOD_URLS="$url" "$PERF_GPU" archive
	expect "both files" $'debug\nelf' "$(tar tf perf.data.tar.zst | grep "${id:2}" | sed 's,.*/,,' | sort)"
	expect "so that nobody is asked where it is read" "$named" "$(frames "$url" -i perf.data.tar.zst)"
	expect "not even once" "" "$(requests)"
else
	skip_one "an archive has what the server has" "perf-gpu was built without libarchive"
fi

# --- servers that fail ---------------------------------------------------------------------------

# fails WHAT REGEX COMMAND...: it goes on without, and says so in one line
fails()
{
	local what=$1 regex=$2
	shift 2

	rm -rf cache
	check_status "$what: the rest is printed" 0 "$@"
	expect "$what: all samples are there" 3 "$(grep -c gpu-kernel: out)"
	expect_match "$what: is said, and what to do" "$regex" "$(cat err)"
	expect "$what: once" 1 "$(grep -v 'waiting for' err | grep -c DEBUGINFOD_URLS)"
}

# Port 1 is nobody's.
fails "nobody at the address" 'DEBUGINFOD_URLS.*of .*app.*: .*; they aren.t asked any more.*; unset it' \
	env DEBUGINFOD_URLS=http://127.0.0.1:1/ "$PERF_GPU" script
fails "a server that doesn't answer" 'DEBUGINFOD_TIMEOUT has the seconds' \
	env DEBUGINFOD_URLS="$url/hang" DEBUGINFOD_TIMEOUT=1 "$PERF_GPU" script
rm -rf cache
check_status "one that doesn't answer for long" 0 env DEBUGINFOD_URLS="$url/hang" DEBUGINFOD_TIMEOUT=5 "$PERF_GPU" script
expect "that is waited for is told once, and how to wait less" \
	"[ perf-gpu script: waiting for servers of symbols: DEBUGINFOD_TIMEOUT has the seconds that each is given, 90 if it isn't set; without DEBUGINFOD_URLS none is asked ]" \
	"$(grep 'waiting for' err)"
fails "no client library" "can't be asked: .*libdebuginfod.so.1.*install libdebuginfod1" \
	env DEBUGINFOD_URLS="$url" LD_LIBRARY_PATH="$TMP/empty" \
	sh -c "mkdir -p '$TMP/empty' && : >'$TMP/empty/libdebuginfod.so.1' && exec '$PERF_GPU' script"
