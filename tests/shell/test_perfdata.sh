#!/bin/bash
# perf.data as we write it, read by stock perf without a warning
. "$(dirname "$0")/lib.sh"
need perf

check "a file is written" env PERFDATA_TEST_FILE="$TMP/perf.data" \
	"$O/tests/unit/test_perfdata_writer" whole_file

# Prints what perf says, its complaints too
perf_says()
{
	perf "$@" 2>&1 | cat
}

# One line for each warning or error in a text
complaints()
{
	grep -iE 'warn|error|fail|invalid|unexpected|corrupt|unsupported' <<<"$1"
}

header=$(perf_says report --header-only -i perf.data)
expect "report --header-only has no complaint" "" "$(complaints "$header")"
expect_match "the host's name" '^# hostname : example$' "$header"
expect_match "the kernel's release" '^# os release : 6\.18\.0$' "$header"
expect_match "the architecture" '^# arch : x86_64$' "$header"
expect_match "the CPU" '^# cpudesc : a CPU$' "$header"
expect_match "perf's version" '^# perf version : 0\.1$' "$header"
expect_match "the CPUs configured" '^# nrcpus avail : 8$' "$header"
expect_match "the CPUs online" '^# nrcpus online : 6$' "$header"
expect_match "the memory" '^# total memory : 1048576 kB$' "$header"
expect_match "the command line" '^# cmdline : /usr/bin/perf-gpu record -- ./app $' "$header"
expect_match "an event of two ids" '^# event : name = gpu-kernel, , id = \{ 77, 78 \},' "$header"
expect_match "another event" '^# event : name = dummy:u, , id = \{ 79 \},' "$header"
expect_match "the first sample's time" '^# time of first sample : 1\.000000$' "$header"
expect_match "the last sample's time" '^# time of last sample : 1\.999950$' "$header"
expect_match "the clock" '^# clockid: monotonic \(1\)$' "$header"
expect_match "the time of day" '= 1700000000\.000000 \(TOD\) = 0\.123456789 \(monotonic\)$' \
	"$header"

expect "buildid-list" "\
0102030405060708090a0b0c0d0e0f1011121314 /usr/bin/app
0102030405060708090a0b0c0d0e0f10         /usr/lib/libshort.so" \
	"$(perf_says buildid-list -i perf.data)"

events=$(perf_says evlist -v -i perf.data)
expect "evlist -v has no complaint" "" "$(complaints "$events")"
expect_match "evlist -v" '^gpu-kernel: type: 1, size: 128, config: 0x1, .*IDENTIFIER' "$events"

samples=$(perf_says script -F comm,tid,time,period,event,ip -i perf.data)
expect "script has no complaint" "" "$(complaints "$samples")"
expect "script prints the first sample" "\
app    10     1.000000:         50 gpu-kernel: 
	            1234
	            5678" "$(head -n 3 <<<"$samples")"
expect "script prints all samples" 20000 "$(grep -c gpu-kernel <<<"$samples")"

report=$(perf_says report --stdio -i perf.data)
expect "report has no complaint" "" "$(complaints "$report")"
expect_match "report sums the periods up" '^# Event count \(approx\.\): 1000000$' "$report"
