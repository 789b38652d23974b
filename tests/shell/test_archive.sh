#!/bin/bash
# Recordings with their symbols in one file: packed here, read where the files are gone.

# shellcheck source=tests/shell/lib.sh
. "$(dirname "$0")/lib.sh"
need root bpf fake_cuda objcopy python3 zstd

if "$PERF_GPU" version -b | grep 'libarchive: \[ OFF' >/dev/null; then
	echo "1..0 # SKIP need libarchive: perf-gpu was built without it"
	exit 0
fi

export HOME=$TMP/home # of perf's build-id cache, and of what viewers are given
unset PERF_BUILDID_DIR XDG_CACHE_HOME DEBUGINFOD_URLS
mkdir home
app=$TMP/app

# The folder where archives are unpacked, of which nothing may remain
export TMPDIR=$TMP/unpacked
mkdir unpacked

# The build id of a file
build_id()
{
	readelf -n "$1" | awk '/Build ID/ { print $3 }'
}

# The name of a file in the archive, by build id
member()
{
	local id

	id=$(build_id "$1")
	echo "symfs/.debug/.build-id/${id:0:2}/${id:2}/$2"
}

# Another program has the place of the one that was recorded
replace_app()
{
	rm -f "$app"
	cp "$WORKLOADS/processes" "$app"
}

# The program's frames in the first stack of perf-gpu script, with more arguments
frames()
{
	"$PERF_GPU" script "$@" 2>err |
		awk -v file="($app)" '/^$/ { exit } $NF == file { sub(/\+0x.*/, "", $2); print $2 }' | xargs
}

# --- packed, and read elsewhere ------------------------------------------------------------

# What each command makes of a recording goes into a folder
all_outputs()
{
	local input=$1 to=$2

	mkdir "$to"
	"$PERF_GPU" script -i "$input" >"$to/script"
	"$PERF_GPU" script -i "$input" --folded --keep-driver-frames >"$to/folded"
	"$PERF_GPU" report -i "$input" >"$to/report"
	"$PERF_GPU" report -i "$input" --json | grep -v '"input":' >"$to/json"
	"$PERF_GPU" flamegraph -q -i "$input" --svg -o "$to/svg"
	"$PERF_GPU" export -q --speedscope -i "$input" -o "$to/speedscope"
	"$PERF_GPU" export -q --chrome -i "$input" -o "$to/chrome"
	"$PERF_GPU" export -q --firefox -i "$input" -o "$to/firefox"
}

cp "$WORKLOADS/launches" "$app"
app_member=$(member "$app" elf)
check_status "a program is recorded" 0 run_fake "$PERF_GPU" record "$app" -n 3
all_outputs perf.data before 2>err
expect_match "its functions have names" ' main\+0x[0-9a-f]+ \(/.*/app\)$' "$(cat before/script)"
check_status "it is packed" 0 "$PERF_GPU" archive
expect_match "which is told" \
	'the recording and [0-9]+ files with symbols in perf\.data\.tar\.zst \(' "$(cat err)"
expect "only its owner can read it" 600 "$(stat -c %a perf.data.tar.zst)"
expect_match "the program is in it" "^$app_member$" "$(tar tf perf.data.tar.zst)"
expect_no_match "what no stack goes through isn't" "^$(member "$O/lib/perf-gpu/libperf-gpu-inject.so" elf)$" \
	"$(tar tf perf.data.tar.zst)"
check_status "-q is quiet" 0 "$PERF_GPU" archive -q -o quiet.tar.zst
expect "and writes where -o says" "yes" "$([ -s quiet.tar.zst ] && [ ! -s err ] && echo yes)"
"$PERF_GPU" archive -q -o - >streamed.tar.zst
expect "- is standard output" "$(tar tf quiet.tar.zst)" "$(tar tf streamed.tar.zst)"
check_status "where that is full" 1 sh -c "'$PERF_GPU' archive -o - >/dev/full"
expect "is said, in one line" "perf-gpu archive: cannot write to stdout: No space left on device" "$(cat err)"
check_status "it isn't written over the recording" 1 "$PERF_GPU" archive -o perf.data

mkdir recording elsewhere
mv perf.data perf.data.gpu recording/
mv "$app" recording/app
replace_app
mv perf.data.tar.zst elsewhere/x.tar.zst
cd elsewhere || exit 1

all_outputs x.tar.zst ../after 2>"$TMP/err"
expect "nothing is said when it is read" "" "$(cat "$TMP/err")"
for output in script folded report json svg speedscope chrome firefox; do
	if [ -s "../before/$output" ] && cmp -s "../before/$output" "../after/$output"; then
		ok "$output: the same as of the recording"
	else
		fail "$output: the same as of the recording" \
			"$(diff "../before/$output" "../after/$output" | head -n 20)"
	fi
done

# elsewhere COMMAND...: as on a machine that has no CUDA, and no debug files
elsewhere()
{
	unshare -m sh -c 'mount -t tmpfs none "$1" && { [ ! -d /usr/lib/debug ] || mount -t tmpfs none /usr/lib/debug; } &&
		shift && exec "$@"' sh "$FAKE_CUDA" "$@"
}
if elsewhere true 2>/dev/null; then
	folded=(script -q --folded --keep-driver-frames -i)
	expect "where there is nothing else, libraries have names too" "$(cat ../before/folded)" \
		"$(elsewhere "$PERF_GPU" "${folded[@]}" x.tar.zst)"
	expect_match "as the stand-in's have them" ';main;.*;fake_call__report;' "$(cat ../before/folded)"
	expect_match "which the recording alone hasn't there" ';\[app\];.*;\[libcudart\.so\.13\];' \
		"$(elsewhere "$PERF_GPU" "${folded[@]}" ../recording/perf.data)"
else
	skip_one "where there is nothing else, libraries have names too" "no mount namespace can be had"
fi
check_status "by any path" 0 "$PERF_GPU" script -q -i "$TMP/elsewhere/./x.tar.zst"
cp x.tar.zst perf.data
check_status "in the place of perf.data" 0 "$PERF_GPU" script -q
expect "with the same result" "$(cat ../before/script)" "$(cat "$TMP/out")"
rm perf.data
check_status "with GPU records from elsewhere" 0 "$PERF_GPU" script -q -i x.tar.zst -g ../recording/perf.data.gpu
check_status "flamegraph compares it" 0 "$PERF_GPU" flamegraph --svg -i x.tar.zst \
	--differential x.tar.zst -o /dev/null/no -q -o ../differential.svg
expect_match "with itself" 'plain_kernel__launch' "$(cat ../differential.svg)"
check_status "it isn't written over itself" 1 "$PERF_GPU" flamegraph --svg -i x.tar.zst -o x.tar.zst
expect_match "which is said" 'x\.tar\.zst is what is read' "$(cat "$TMP/err")"

check_status "an archive is packed again" 0 "$PERF_GPU" archive -q -i x.tar.zst -o again.tar.zst
check "byte for byte the same" cmp x.tar.zst again.tar.zst
expect "its files have the recording's time" "$(date -r ../recording/perf.data '+%F %H:%M')" \
	"$(tar tvf x.tar.zst | grep -oE ' [0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}' | cut -c 2- | sort -u)"
expect "nothing remains of all this" "" "$(ls -A "$TMPDIR")"

check_status "a recording from a pipe is packed" 0 sh -c "cat ../recording/perf.data |
	'$PERF_GPU' archive -q -i - -g ../recording/perf.data.gpu --symfs ../none"
expect "with what it has" "perf.data perf.data.gpu" "$(tar tf perf.data.tar.zst | grep '^perf.data' | xargs)"
check_status "which is read" 0 "$PERF_GPU" script -q -i perf.data.tar.zst -F period
expect "as a whole" 3 "$(wc -l <"$TMP/out")"
rm perf.data.tar.zst

# --- merge ---------------------------------------------------------------------------------

check_status "merge reads archives" 0 "$PERF_GPU" merge -q -o merged.data x.tar.zst
expect "all launches are there" 3 "$("$PERF_GPU" script -q -i merged.data -F period | grep -c .)"

run_fake "$PERF_GPU" record -q -o ../second.data "$WORKLOADS/launches" -n 2
check_status "of several" 0 "$PERF_GPU" archive -q -i ../second.data -o second.tar.zst
check_status "merge makes one" 0 "$PERF_GPU" merge -o merged.data x.tar.zst second.tar.zst
expect_match "of all launches" '2 recordings of 1 host: 5 launches' "$(cat "$TMP/err")"
expect_match "and tells what isn't in it" \
	"files with symbols of x\.tar\.zst are not in merged\.data: .*'tar xf x\.tar\.zst symfs'.* --symfs symfs" \
	"$(cat "$TMP/err")"
tar xf x.tar.zst symfs
expect "which the advice mends, of all of that build" 5 \
	"$("$PERF_GPU" script -q -i merged.data --symfs symfs -F ip,sym,symoff | grep -c ' main+0x')"
rm -r symfs
check_status "one and the same is told by its name" 1 "$PERF_GPU" merge -o merged.data x.tar.zst x.tar.zst
expect_match "which is the archive's" 'x\.tar\.zst' "$(cat "$TMP/err")"
rm second.tar.zst ../second.data*

# --- tar and --symfs -----------------------------------------------------------------------

mkdir tar
tar xf x.tar.zst -C tar
expect "tar unpacks it" "$(cat ../before/script)" \
	"$("$PERF_GPU" script -q -i tar/perf.data --symfs tar/symfs)"

# --- perf and hotspot ------------------------------------------------------------------------

check_status "inject reads it" 0 "$PERF_GPU" inject -i x.tar.zst
expect_match "and tells perf's command" \
	'perf --buildid-dir perf\.gpu\.data\.dso/symbols report -i perf\.gpu\.data' "$(cat "$TMP/err")"
expect "files are for the user alone" 700 "$(stat -c %a perf.gpu.data.dso/symbols)"
expect "nothing half-written is beside them" $'[GPU_Kernel]\nsymbols' "$(ls perf.gpu.data.dso)"
check_status "a second time, too" 0 "$PERF_GPU" inject -q -i x.tar.zst
named="plain_kernel__launch main"
if has perf; then
	expect "perf report has the names by that" "$named" \
		"$(perf --buildid-dir perf.gpu.data.dso/symbols report -i perf.gpu.data --stdio \
			--no-children 2>/dev/null | grep -oE 'plain_kernel__launch|\<main\>' | xargs)"
	expect "tui, too" "$named" "$("$PERF_GPU" tui -q -i x.tar.zst -- --stdio --no-children \
		2>/dev/null | grep -oE 'plain_kernel__launch|\<main\>' | xargs)"
else
	skip_one "perf report has the names by that" "$(why_not perf)"
	skip_one "tui, too" "$(why_not perf)"
fi
expect "they keep nothing beside the archive" "" "$(ls -d x.gpu.data* 2>/dev/null)"
parser=$(find /usr/lib* /usr/libexec -name hotspot-perfparser 2>/dev/null | head -n 1)
if [ -n "$parser" ]; then
	"$parser" --input perf.gpu.data --output stream --debug "$PWD/perf.gpu.data.dso/symbols" 2>/dev/null
	expect_match "hotspot's parser has them" ';main;plain_kernel__launch;' \
		"$(PYTHONDONTWRITEBYTECODE=1 python3 "$TESTS/tools/hotspot_costs.py" --stacks stream)"
else
	skip_one "hotspot's parser has them" "hotspot isn't installed"
fi

# The program that is run says what it was given.
mkdir "$TMP/bin"
printf '#!/bin/sh\necho "${0##*/} $*"\n' | tee "$TMP/bin/perf" >"$TMP/bin/hotspot"
chmod +x "$TMP/bin/perf" "$TMP/bin/hotspot"
check_status "hotspot is told of the folder" 0 env PATH="$TMP/bin:$PATH" QT_QPA_PLATFORM=offscreen \
	"$PERF_GPU" hotspot -q -i x.tar.zst -- --x
expect_match "with its own option" "^hotspot --debugPaths $HOME/.cache/perf-gpu/[0-9a-f]*/x.gpu.data.dso/symbols $HOME/.cache/perf-gpu/[0-9a-f]*/x.gpu.data --x$" \
	"$(cat "$TMP/out")"
injected=$(awk '{ print $4 }' "$TMP/out")
before=$(stat -c '%i %Y' "$injected")
PATH=$TMP/bin:$PATH "$PERF_GPU" tui -q -i x.tar.zst >"$TMP/out"
expect_match "perf is, too" "^perf --buildid-dir .*\.dso/symbols report -i " "$(cat "$TMP/out")"
expect "once it is there, it isn't made again" "$before" "$(stat -c '%i %Y' "$injected")"
rm -r "$injected.dso/symbols"
PATH=$TMP/bin:$PATH "$PERF_GPU" tui -q -i x.tar.zst >"$TMP/out"
expect "but if its symbols are gone" yes \
	"$([ "$before" != "$(stat -c '%i %Y' "$injected")" ] && [ -d "$injected.dso/symbols" ] && echo yes)"
check_status "without a home there is no place for it" 1 env -u HOME PATH="$TMP/bin:$PATH" \
	"$PERF_GPU" tui -i x.tar.zst
expect_match "which is said" 'is an archive, and neither HOME nor XDG_CACHE_HOME' "$(cat "$TMP/err")"
rm -r ../bin tar perf.gpu.data perf.gpu.data.dso merged.*
cd ..

# --- names in other files, or none --------------------------------------------------------------

objcopy --only-keep-debug recording/app app.debug
rm "$app"
objcopy --strip-all --add-gnu-debuglink=app.debug recording/app "$app"
check_status "a stripped program is recorded" 0 run_fake "$PERF_GPU" record -q "$app" -n 3
check_status "and packed" 0 "$PERF_GPU" archive -q
expect_match "with its debug file" "^$(member "$app" debug)$" "$(tar tf perf.data.tar.zst)"
rm app.debug
replace_app
expect "of which the names are" "plain_kernel__launch main _start" "$(frames -i perf.data.tar.zst)"

rm "$app"
objcopy --remove-section .note.gnu.build-id recording/app "$app"
check_status "a program without a build id is recorded" 0 run_fake "$PERF_GPU" record -q "$app" -n 3
check_status "and packed by its path" 0 "$PERF_GPU" archive -q
expect_match "below symfs" "^symfs$app$" "$(tar tf perf.data.tar.zst)"
replace_app
expect "where its names are" "plain_kernel__launch main _start" "$(frames -i perf.data.tar.zst)"
check_status "another program in its place is packed" 0 "$PERF_GPU" archive -o other.tar.zst
rm "$app"
check_status "where there is none any more" 0 "$PERF_GPU" archive -o none.tar.zst
expect_match "it is named" 'not found here as recorded, and not packed.*: .*app' "$(cat err)"
replace_app
expect "and nothing else's names are taken" "[unknown] [unknown] [unknown]" "$(frames -i none.tar.zst)"
rm -f other.tar.zst none.tar.zst

# GPU code isn't packed: a file with a section of it is smaller by that.
head -c 3000000 /dev/urandom >gpu_code
rm "$app"
objcopy --add-section .nv_fatbin=gpu_code recording/app "$app"
check_status "a program with GPU code is recorded" 0 run_fake "$PERF_GPU" record -q "$app" -n 3
"$PERF_GPU" archive -q
rm gpu_code
name=$(member "$app" elf)
expect "it is packed in its size" "$(stat -c %s "$app")" "$(tar xOf perf.data.tar.zst "$name" | wc -c)"
expect "with zeros for the code" 0 "$(tar xOf perf.data.tar.zst "$name" >packed &&
	objcopy -O binary --only-section=.nv_fatbin --set-section-flags .nv_fatbin=alloc packed code &&
	tr -d '\0' <code | wc -c)"
rm -f packed code
replace_app
expect "its functions have their names" "plain_kernel__launch main _start" "$(frames -i perf.data.tar.zst)"

# --- JIT code --------------------------------------------------------------------------------

# jit ARGUMENTS...: a recording of such code, whose process and address are known then
jit()
{
	run_fake "$PERF_GPU" record -q "$WORKLOADS/jit" "$@" >jit.out
	pid=$(awk '{ print $2 }' jit.out)
	address=$(awk '{ print $3 }' jit.out)
}

# The first function of JIT code, of perf-gpu script with more arguments
jit_name()
{
	"$PERF_GPU" script -q -F ip,sym "$@" | awk '/jit_|\[unknown\]/ { print $2; exit }'
}

jit -m
rm -f "/tmp/perf-$pid.map"
check_status "JIT code with names of its own is packed" 0 "$PERF_GPU" archive -q
expect "without a map" "" "$(tar tf perf.data.tar.zst | grep map)"
expect "and has them" jit_second "$(jit_name -i perf.data.tar.zst)"

jit -n 3
map=/tmp/perf-$pid.map
rm -f "$map"
check_status "JIT code without names is packed" 0 "$PERF_GPU" archive -q -o none.tar.zst
echo "$address 1000 jit_told" >"$map"
touch -r perf.data "$map"
expect "a map here has its names" jit_told "$(jit_name)"
expect "but none of an archive, which is of another machine" "[unknown]" "$(jit_name -i none.tar.zst)"
check_status "the map is packed" 0 "$PERF_GPU" archive -q
echo "$address 1000 jit_other" >"$map"
expect "where it is read from" jit_told "$(jit_name -i perf.data.tar.zst)"
rm "$map"
expect "also when it is gone" jit_told "$(jit_name -i perf.data.tar.zst)"
rm none.tar.zst

# --- copied stacks --------------------------------------------------------------------------

rm "$app"
cp recording/app "$app"
check_status "stacks are copied" 0 run_fake "$PERF_GPU" record -q --call-graph dwarf "$app" -n 3
wanted=$("$PERF_GPU" script -q | grep -oE ' [a-z_]+\+0x[0-9a-f]+' | xargs)
"$PERF_GPU" archive -q
replace_app
expect "they are unwound by the archive's files" "$wanted" \
	"$("$PERF_GPU" script -q -i perf.data.tar.zst | grep -oE ' [a-z_]+\+0x[0-9a-f]+' | xargs)"

# --- archives of others ------------------------------------------------------------------------

# refused WHAT REGEX FILE: an archive is refused, in one line, and nothing is left
refused()
{
	check_status "$1: refused" 1 "$PERF_GPU" script -i "$3"
	expect_match "$1: says why" "$2" "$(cat err)"
	expect "$1: in one line, and nothing else" "1 0" "$(wc -l <err) $(wc -c <out)"
	expect "$1: leaves nothing" "" "$(ls -A "$TMPDIR")"
}

# A small one: with the program's symbols alone
mkdir -p "symfs$TMP"
cp recording/app "symfs$app"
check_status "symbols are taken from below --symfs" 0 "$PERF_GPU" archive -i recording/perf.data \
	--symfs symfs -o small.tar.zst
expect "and from nowhere else" "$app_member" "$(tar tf small.tar.zst | grep '^symfs/')"
rm -r symfs
expect "they are all that there is" "plain_kernel__launch main _start" "$(frames -i small.tar.zst)"
x=small.tar.zst
zstd -dq $x -o small.tar
size=$(stat -c %s $x)
for cut in 5 100 $((size / 2)) $((size - 1)); do
	head -c $cut $x >bad.tar.zst
	refused "cut at $cut bytes" 'is cut off or damaged|was not made by' bad.tar.zst
done
python3 - $x bad.tar.zst <<'END'
import sys
data = bytearray(open(sys.argv[1], "rb").read())
for at in range(len(data) // 2, len(data) // 2 + 8):
    data[at] ^= 0xff
open(sys.argv[2], "wb").write(data)
END
refused "damaged in its midst" 'is cut off or damaged' bad.tar.zst

# What tests/tools/hostile_archive.py makes of the archive, and why it is refused
cat >kinds <<'END'
wrong-checksum|a checksum is wrong
checksums-of-others|its checksums are of other files
no-checksums|its end is missing
no-perfdata|its end is missing
two-perfdata|has perf.data in it, which perf-gpu archive doesn't pack
two-of-a-build|has symfs/.*/elf in it, which
absolute-path|has /etc/passwd in it, which
path-upwards|has symfs/../../evil in it, which
path-in-the-midst|has symfs/a/../../../evil in it, which
other-file|has README in it, which
symlink|has symfs/link in it, which is no regular file
hard-link|has symfs/link in it, which is no regular file
symlink-for-perfdata|has perf.data in it, which is no regular file
device|has symfs/device in it, which is no regular file
fifo|has symfs/fifo in it, which is no regular file
folder|has symfs/folder/? in it, which is no regular file
sparse|isn't in one piece
long-name|has symfs/n+ in it, which
huge-size|would unpack to more than
behind-the-end|has symfs/more in it, which
later-version|is in a later format than this perf-gpu reads, perf-gpu archive 2
no-mark|was not made by perf-gpu archive
empty-tar|was not made by perf-gpu archive
empty-perfdata|perf.data of hostile/empty-perfdata.tar.zst is empty
bomb|would unpack to more than .* 1000 times its size
END
mkdir hostile
mapfile -t kinds < <(cut -d '|' -f 1 kinds)
python3 "$TESTS/tools/hostile_archive.py" small.tar hostile many-files "${kinds[@]}"
zstd -q --rm hostile/*.tar
while IFS='|' read -r name regex; do
	refused "$name" "$regex" "hostile/$name.tar.zst"
done <kinds
expect_match "a bomb can be unpacked otherwise" "'tar xf', and read its perf.data with --symfs symfs" \
	"$(cat err)"
printf '\x28\xb5\x2f\xfd' >bad.tar.zst
refused "only zstd's magic" 'cut off or damaged|was not made' bad.tar.zst
echo "no tar at all" | zstd -q -f -o bad.tar.zst
refused "no tar" 'cut off or damaged|was not made' bad.tar.zst

# Each file is open: as many as there may be of the user's are taken.
many=hostile/many-files.tar.zst
check_status "an archive of many files is read" 0 "$PERF_GPU" script -q -i $many
check_status "also where few may be open at first" 0 \
	bash -c "ulimit -Sn 64; exec '$PERF_GPU' script -q -i $many"
check_status "but not where fewer may" 1 bash -c "ulimit -n 64; exec '$PERF_GPU' script -i $many"
expect_match "which is said" 'Too many open files' "$(cat err)"

# libarchive prints a line of its own where it has no memory for a name, and exits.
if has plain; then
	out_of_memory=0
	for ((megabytes = 20; megabytes < 400; megabytes++)); do
		status=0
		prlimit --as=$((megabytes << 20)) "$PERF_GPU" script -i hostile/long-name.tar.zst >out 2>err || status=$?
		[ $status != 127 ] || continue # libraries have no room
		grep 'no memory to unpack hostile/long-name.tar.zst$' err >/dev/null || break
		out_of_memory=$((out_of_memory + 1))
	done
	check "without memory for names it is said that there is none" test $out_of_memory -gt 1
	expect_match "however much there is" 'has symfs/n+ in it, which' "$(cat err)"
	expect "in one line" 1 "$(wc -l <err)"
else
	skip_one "without memory for names it is said that there is none" "built with sanitizers"
fi

check_status "a folder to unpack in that isn't there" 1 env TMPDIR=/nonexistent "$PERF_GPU" script -i $x
expect_match "is named, and what to do" 'in /nonexistent: .*; set TMPDIR' "$(cat err)"
if mkdir full && mount -t tmpfs -o size=64k none full 2>/dev/null; then
	check_status "no room to unpack in" 1 env TMPDIR="$TMP/full" \
		"$PERF_GPU" script -i elsewhere/x.tar.zst
	expect_match "is said in words" "in $TMP/full: No space left on device; set TMPDIR" "$(cat err)"
	check_status "no room to pack" 1 "$PERF_GPU" archive -i elsewhere/x.tar.zst -o full/again.tar.zst
	expect_match "is, too" 'full/again.tar.zst: No space left on device' "$(cat err)"
	expect "and leaves nothing" "" "$(ls -A full)"
	umount full
else
	skip_one "no room to unpack in" "no file system can be mounted"
fi
