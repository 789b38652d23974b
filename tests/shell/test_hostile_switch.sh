#!/bin/bash
# perf-gpu record --switch-output and --overwrite, which read logs all the time, under attack
. "$(dirname "$0")/lib.sh"
need root bpf fake_cuda python3 setpriv
. "$TESTS/shell/attack_lib.sh"

record()
{
	run_fake timeout -k 5 300 "$PERF_GPU" record --run-as nobody "$@"
}

kernels()
{
	local data

	while read -r data; do
		"$PERF_GPU" script -i "$data" 2>"$TMP/err"
	done < <(find . -name 'perf.data*' ! -name '*.gpu' ! -name '*.old*') | grep -ac 'GPU_Kernel\]plain_kernel'
}

echo "root's" >victim
mkdir -p -m 777 open
for options in "--switch-output=5M --switch-max-files=3" --overwrite=10s,32M; do
	name=${options%%=*}
	for way in "spool $PWD/victim $PWD/open/secret" logs "outlive 20" "grow 60"; do
		# shellcheck disable=SC2086 # of words
		check_status "$name: ${way%% *}" 0 record $options \
			sh -c "$WORKLOADS/launches -n 100; python3 $ATTACK $way; $WORKLOADS/launches -n 100"
		expect "$name: ${way%% *}: nothing gets to the terminal raw" 0 "$(escapes "$TMP/err")"
		expect "$name: ${way%% *}: nor as ever so many lines" 1 "$(($(wc -l <"$TMP/err") < 100))"
		expect "$name: ${way%% *}: and nothing is left" "" "$(find . -name '*.spool.*')"
		# What is kept by --overwrite is bounded, and anybody's.
		[ "$way$name" != logs--switch-output ] || expect "$name: the launches of others are there" 200 "$(kernels)"
		rm -f perf.data*
	done
done

for options in --switch-output --overwrite; do
	# shellcheck disable=SC2016 # for the shell that is recorded
	check_status "$options: FIFOs that are called as logs are" 0 record $options \
		sh -c 'for i in $(seq 15); do mkfifo "$PERF_GPU_SPOOL/$i-$i.gpulog"; done'
	expect "$options: some are told of" 10 "$(grep -c 'is left out: not a file of the processes. user' "$TMP/err")"
	expect_match "$options: and how many others there are" "warning: the same of 5 more GPU logs$" "$(cat "$TMP/err")"
	rm -f perf.data*
done
expect "no other file was written to" "root's" "$(cat victim)"
