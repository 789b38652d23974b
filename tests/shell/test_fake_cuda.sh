#!/bin/bash
# The stand-in for CUDA: it behaves as the real one, and as its script says
. "$(dirname "$0")/lib.sh"
need fake_cuda

read -r -a emulator <<<"${EMULATOR:-}"

# The results of test programs, as this test's own
for program in test_calls test_records test_events test_memory test_devices test_versions test_share; do
	if [ ${#emulator[@]} -gt 0 ] && [ $program = test_events ]; then
		skip_one $program "its waits are timed, and an emulator is late for them"
		continue
	fi
	details=""
	plan=""
	while read -r line; do
		what=${line#*- }
		case $line in
		"ok "*" # SKIP "*) skip_one "${what%% # SKIP *}" "${what##* # SKIP }" ;;
		"ok "*) ok "$what" ;;
		"not ok "*) fail "$what" "$details" ;;
		"1.."*) plan=$line ;;
		*) details+=$line$'\n' ;;
		esac
	done < <("${emulator[@]}" "$FAKE_CUDA/$program" 2>&1)
	[ -n "$plan" ] || fail "$program ends early" "$details"
done

# nvcc's programs
if has nvcc; then
	expect "static cudart isn't in the dynamic symbols" "" \
		"$(nm -D --defined-only "$WORKLOADS/truth_static_fake" | grep -i cuda)"
	for program in truth_shared truth_static_fake truth_stripped_static_fake; do
		check "$program runs" env FAKE_CUDA_INSTANT=1 \
			LD_LIBRARY_PATH="$FAKE_CUDA" "$WORKLOADS/$program" -n 10000
	done
fi
