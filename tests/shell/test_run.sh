#!/bin/bash
# tests/run.sh: no failure is passed over, and with RERUN each one is told of
. "$(dirname "$0")/lib.sh"

mkdir -p tree/tests/{unit,fuzz,shell,faults} build
cp "$TESTS/run.sh" tree/tests/

# script NAME TEXT
script()
{
	echo "$2" >"tree/tests/shell/test_$1.sh"
}

# run_tests [RERUN]: leaves the last line, status and what is said of a second run
run_tests()
{
	rm -f once*
	RERUN=${1:-} REQUIRED_NEEDS='' O=$PWD/build TEST_LOGS=$PWD/logs tree/tests/run.sh >out
	echo "$? $(tail -n 1 out)$(sed -n 's/^failed once, and passed.*: /; again /p' out | tr -d '\n')"
}

script good 'echo "ok 1 - good"; echo 1..1'
expect "all pass" "0 1 passed, 0 failed, 0 skipped" "$(run_tests)"
script bad 'echo "ok 1 - good"; echo "not ok 2 - bad"; echo 1..2; exit 1'
expect "one fails" "1 2 passed, 1 failed, 0 skipped" "$(run_tests)"
expect "one that fails again, too" "1 2 passed, 1 failed, 0 skipped" "$(run_tests 2)"
script bad 'echo "ok 1 - good"; exit 0'
expect "one that ends early" "1 2 passed, 1 failed, 0 skipped" "$(run_tests)"
script bad "echo 'ok 1 - good'; echo 1..1; [ -e $PWD/once ] || { >$PWD/once; exit 1; }"
expect "one that fails once" "1 2 passed, 1 failed, 0 skipped" "$(run_tests)"
expect "and may" "0 2 passed, 0 failed, 0 skipped; again shell/test_bad" "$(run_tests 1)"
expect "its first output is there" 1 "$(grep -c 'exited with status 1' out)"
for i in 2 3; do
	script bad$i "echo 'ok 1 - good'; echo 1..1; [ -e $PWD/once$i ] || { >$PWD/once$i; exit 1; }"
done
expect "no more than so many" "1 4 passed, 1 failed, 0 skipped; again shell/test_bad; again shell/test_bad2" \
	"$(run_tests 2)"
