# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154,SC2317 # $work, $workloads, ... are gpu-run.sh's, which calls
#
# Steps of scripts/gpu-run.sh that are about everything that the GPU did: each event, all
# together and alone, what others count of the same script, and what another CUPTI records.

all_events=gpu-kernel,gpu-memcpy,gpu-memset,gpu-sync,gpu-launch,gpu-queue,gpu-idle,gpu-alloc,gpu-fault

# Of event_truth: all, but for what the stand-in can't know; [] is all
event_parts=()
# The stand-in's kernels take and move what the script says; a GPU's do.
play_event_truth() {
	[[ $cuda_kind != gpu ]] || return 0
	"$workloads/event_truth" -d > "$work/event_truth.durations"
	"$workloads/event_truth" -m > "$work/event_truth.migrations"
	export FAKE_CUDA_DURATIONS=$work/event_truth.durations
	export FAKE_CUDA_MIGRATIONS=$work/event_truth.migrations
	event_parts=(copies memsets graphs peers allocations waits gaps calls queues faults)
}

# record_events NAME EVENTS [option of record ...] -- PROGRAM ...
# Leaves perf.data, perf.data.gpu, launched.txt, and texts of perf-gpu script, one for each
# event: EVENT.txt, and where that makes sense EVENT.bytes.txt and leaks.txt.
record_events() {
	local dir=$work/$1 events=$2 event
	mkdir -p "$dir"
	record_program "$1" -e "$events" "${@:3}"
	for event in ${events//,/ }; do
		perf_gpu script -q -i "$dir/perf.data" -e "$event" > "$dir/$event.txt"
		case $event in
		gpu-memcpy | gpu-memset)
			perf_gpu script -q -i "$dir/perf.data" -e "$event" --weight=bytes \
				> "$dir/$event.bytes.txt"
			;;
		gpu-alloc)
			perf_gpu script -q -i "$dir/perf.data" -e "$event" --leaks > "$dir/leaks.txt"
			;;
		esac
	done
}

# check_events NAME EVENTS [option of check_events.py ...]
# Times are what they are by construction on a GPU; on a machine that plays one, and does
# other things, only between what the program's clock says.
check_events() {
	local dir=$work/$1 events=$2 event options=("${@:3}") texts=()
	[[ $cuda_kind != gpu ]] || options+=(--within 1)
	for event in ${events//,/ }; do
		texts+=("$dir/$event.txt")
		[[ ! -e $dir/$event.bytes.txt ]] || options+=(--bytes "$dir/$event.bytes.txt")
		[[ $event != gpu-alloc ]] || options+=(--leaks "$dir/leaks.txt")
	done
	python3 tests/workloads/check_events.py "$dir/launched.txt" "${texts[@]}" \
		--events "$events" --sidecar "$dir/perf.data.gpu" -v "${options[@]}"
}

step_events() {
	play_event_truth
	record_events events "$all_events" -- "$workloads/event_truth" "${event_parts[@]}"
	cp "$workloads/event_truth" "$work/events/"
	check_events events "$all_events"
}

step_events_process() {
	play_event_truth
	record_events events_process "$all_events" --stacks process -- \
		"$workloads/event_truth_static$static_suffix" "${event_parts[@]}"
	check_events events_process "$all_events"
}

# Each alone: what is recorded for one must do without what is recorded for another.
step_events_single() {
	local event failed=
	local -A parts=([kernel]="waits" [memcpy]="copies graphs peers" [memset]="memsets graphs"
		[sync]="waits" [launch]="calls" [queue]="queues" [idle]="gaps"
		[alloc]="allocations" [fault]="faults")
	play_event_truth
	for event in kernel memcpy memset sync launch queue idle alloc fault; do
		# shellcheck disable=SC2086 # several words
		{
			record_events "events_$event" "gpu-$event" -- "$workloads/event_truth" ${parts[$event]} &&
				check_events "events_$event" "gpu-$event"
		} || failed="$failed $event"
		rm -f "$work/events_$event/perf.gpu.data"
	done
	[[ -z $failed ]] || { echo "wrong alone:$failed"; return 1; }
	echo "each event alone is right"
}

# How others count the script, each in a run of its own, in the current folder
count_by_profiler() {
	"${target_env[@]}" python3 ../torch_events.py --trace trace.json > profiler.txt 2>&1 ||
		echo "torch.profiler: $(tail -n 1 profiler.txt)"
}

count_by_nsys() {
	command -v nsys > /dev/null || {
		echo "nsys is not installed"
		return
	}
	nsys profile -t cuda -s none -f true -o nsys "${target_env[@]}" \
		python3 ../torch_events.py > nsys.txt 2>&1 &&
		nsys export --type sqlite -f true -o nsys.sqlite nsys.nsys-rep >> nsys.txt 2>&1 ||
		echo "nsys: $(tail -n 1 nsys.txt)"
}

# The sum of a recording is that of CUPTI's own records; the number of kernels is what
# others count of the same script.
step_events_torch() {
	local dir=$work/events_torch sources others status=0
	python3 -c 'import torch' 2> /dev/null || skip "no torch here"
	find_profilers
	target_env=(env -u LD_LIBRARY_PATH ${LD_LIBRARY_PATH:+"LD_LIBRARY_PATH=$LD_LIBRARY_PATH"})
	cp tests/workloads/torch_{step,events}.py "$work/"
	mkdir -p "$dir"
	rm -f "$dir"/*
	# At once: what is counted doesn't depend on time.
	(
		cd "$dir" || exit
		count_by_profiler &
		count_by_nsys
		wait
	) > "$dir/others.txt" 2>&1 &
	others=$!
	record_program events_torch -- env PERF_GPU_CUPTI="$workloads/libcupti_tee.so" \
		CUPTI_TEE_OUTPUT="$dir/cupti.txt" python3 ../torch_events.py
	cat "$dir/launched.txt"
	wait "$others"
	cat "$dir/others.txt"
	sources=("sidecar:$dir/perf.data.gpu" "script:$dir/script.txt" "cupti:$dir/cupti.txt")
	[[ ! -e $dir/trace.json ]] || sources+=("trace:$dir/trace.json")
	[[ ! -e $dir/nsys.sqlite ]] || sources+=("nsys:$dir/nsys.sqlite")
	python3 tests/workloads/event_counts.py "${sources[@]}" || status=1
	rm -f "$dir"/trace.json "$dir"/nsys.* # too large to be kept
	[[ $status = 0 ]] || return 1
	((${#sources[@]} > 3)) || { echo "neither torch.profiler nor nsys has counted"; return 1; }
}

# What nsys stats makes of the database of export --sqlite, beside perf-gpu report
step_nsys_stats() {
	local dir=$work/nsys_stats status=0
	find_profilers
	command -v nsys > /dev/null || skip "no nsys here"
	nsys --version || true
	play_event_truth
	record_program nsys_stats -e "$all_events" -- "$workloads/event_truth" "${event_parts[@]}"
	perf_gpu export -q --sqlite -i "$dir/perf.data" -o "$dir/exported.sqlite"
	perf_gpu report --csv -i "$dir/perf.data" > "$dir/report.csv"
	grep '^row,' "$dir/report.csv"
	python3 tests/workloads/check_nsys_stats.py "$dir/exported.sqlite" "$dir/report.csv" || status=1
	# What it is usually asked for, each of which is to be made or not to be there
	nsys stats --format csv "$dir/exported.sqlite" > "$dir/usual.txt" 2>&1 || status=1
	cat "$dir/usual.txt"
	! grep -i '^error' "$dir/usual.txt" || status=1
	rm -f "$dir/exported.sqlite"
	return "$status"
}

# with_cupti NAME CUPTI EVENTS PROGRAM ...: records by that CUPTI; the one found if ""
with_cupti() {
	local dir=$work/$1 events=$3 set=()
	[[ -z $2 ]] || set=(env "PERF_GPU_CUPTI=$2")
	mkdir -p "$dir"
	perf_gpu record -o "$dir/perf.data" -e "$events" -- "${target_env[@]}" "${set[@]}" \
		"${@:4}" > "$dir/launched.txt"
	perf_gpu script -q -i "$dir/perf.data" -e "$events" > "$dir/script.txt"
	# Of two_streams, whose kernels are all there is, this has none.
	perf_gpu script -q -i "$dir/perf.data" --weight=bytes > "$dir/bytes.txt"
}

# check_cupti NAME [option of check_events.py ...]: what event_truth did, recorded by some CUPTI
check_cupti() {
	local dir=$work/$1 options=("${@:2}")
	[[ $cuda_kind != gpu ]] || options+=(--within 1)
	perf_gpu script -q -i "$dir/perf.data" -e gpu-alloc --leaks > "$dir/leaks.txt"
	python3 tests/workloads/check_events.py "$dir/launched.txt" "$dir/script.txt" \
		--bytes "$dir/bytes.txt" --leaks "$dir/leaks.txt" --events "$all_events" \
		--sidecar "$dir/perf.data.gpu" "${options[@]}"
}

# What is recorded by an older CUPTI, as Triton brings one, is the same but for times.
step_cupti12() {
	local cupti dir
	dir=$(python3 -c 'import importlib.util, os
print(os.path.dirname(importlib.util.find_spec("triton").origin))' 2> /dev/null) ||
		skip "no Triton here, which has a CUPTI 12"
	cupti=$(compgen -G "$dir/backends/nvidia/lib/cupti/libcupti.so*" | head -n 1) ||
		skip "no CUPTI in $dir"
	ls -l "$cupti"
	PERF_GPU_CUPTI=$cupti LD_LIBRARY_PATH=$target_library_path perf_gpu check || true
	play_event_truth
	with_cupti two_streams_cupti12 "$cupti" gpu-kernel "$workloads/two_streams" -n 2
	if ! grep -q gpu-kernel: "$work/two_streams_cupti12/script.txt"; then
		dir=$(python3 tests/workloads/gpu_log.py --messages "$work/two_streams_cupti12/perf.data.gpu")
		[[ -n $dir ]] || { echo "nothing is recorded by $cupti, and nothing said of it"; return 1; }
		skip "nothing is recorded by $cupti: $dir"
	fi
	with_cupti two_streams_cupti13 "" gpu-kernel "$workloads/two_streams" -n 2
	with_cupti events_cupti12 "$cupti" "$all_events" "$workloads/event_truth" "${event_parts[@]}"
	with_cupti events_cupti13 "" "$all_events" "$workloads/event_truth" "${event_parts[@]}"
	cp "$workloads/event_truth" "$work/events_cupti12/"
	check_recording two_streams_cupti12
	check_recording two_streams_cupti13
	# Beside a driver for CUDA 13, an older one has no record of cudaDeviceSynchronize().
	if [[ $cuda_kind = gpu ]]; then
		check_cupti events_cupti12 --without "gpu-sync context"
	else
		check_cupti events_cupti12
	fi
	check_cupti events_cupti13
	python3 tests/workloads/compare_recordings.py "$work"/two_streams_cupti1{2,3}
	python3 tests/workloads/compare_recordings.py "$work"/events_cupti1{2,3}
}

# All streams of all GPUs that there are, from 200 threads
step_scale() {
	record_events scale "$all_events" --stacks process -- "$workloads/multi_gpu" -n 50
	check_recording scale
	check_events scale "$all_events"
	python3 tests/workloads/check_streams.py "$work"/scale/{launched.txt,perf.data.gpu}
}
