# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154,SC2317 # $work, $workloads, ... are gpu-run.sh's, which calls
#
# Steps of scripts/gpu-run.sh that are the GPU half of tests/faults/target.md: what becomes
# of a program to which something happens, and of its recording. Each plays rows of that
# table without perf-gpu and by both --stacks, and its last line says what was kept.

if [[ $cuda_kind != gpu ]]; then
	export FAKE_CUDA_TRAP=fault_trap
fi

# recorded REGEX: the number in the recorder's line that matches
recorded() {
	sed -nE "s/^\[ perf-gpu record: $1/\1/p" "$dir/record.txt" | head -n 1 | tr -d ,
}

# play_fault NAME LAUNCHES KERNELS COMMAND...: each of the two a number, A-B, or "some": what
# is missing then was told. Adds to $kept.
play_fault() {
	local name=$1 launches=$2 kernels=$3 stacks status bare_status=0 nr_launches nr_kernels dir
	shift 3
	mkdir -p "$work/fault_$name"
	(cd "$work/fault_$name" && "${target_env[@]}" "$@") > "$work/fault_$name/bare.txt" 2>&1 || bare_status=$?
	for stacks in uprobe process; do
		dir=$work/fault_$name/$stacks status=0
		mkdir -p "$dir"
		(
			cd "$dir"
			perf_gpu record --stacks $stacks -- "${target_env[@]}" "$@" > out.txt 2> record.txt
		) || status=$?
		cat "$dir/record.txt"
		[[ $status = "$bare_status" ]] || { echo "$name, $stacks: the status is $status, not $bare_status"; return 1; }
		diff "$work/fault_$name/bare.txt" "$dir/out.txt" || { echo "$name, $stacks: it says something else"; return 1; }
		perf_gpu inject -i "$dir/perf.data" -o "$dir/perf.gpu.data"
		perf_gpu script -q -i "$dir/perf.data" -F event,ip,sym > "$dir/script.txt"
		! grep -q '\[unattributed\]' "$dir/script.txt" || { echo "$name, $stacks: kernels without a launch"; return 1; }
		nr_launches=$(recorded '([0-9,]+) launch[a-z]* of .*')
		nr_kernels=$(grep -c 'gpu-kernel:' "$dir/script.txt" || true)
		[[ $stacks = process ]] || kept+="; $name ends $status:"
		kept+=" $nr_launches/$nr_kernels"
		if ! check_kept "$launches" "$nr_launches" || ! check_kept "$kernels" "$nr_kernels"; then
			echo "kept launches/kernels by uprobe, process$kept, not $launches/$kernels"
			return 1
		fi
	done
}

# check_kept WANTED NR
check_kept() {
	[[ $1 = "$2" ]] && return
	[[ $1 = *-* && $2 -ge ${1%-*} && $2 -le ${1#*-} ]] && return
	[[ $1 = some ]] && grep -qE 'did not end in order|dropped|missing|lost' "$dir/record.txt"
}

# play_faults: lines NAME LAUNCHES KERNELS on standard input
play_faults() {
	local kept="" name launches kernels
	while read -r name launches kernels; do
		play_fault "$name" "$launches" "$kernels" "$workloads/faults" "$name" < /dev/null
	done
	echo "kept launches/kernels by uprobe, process$kept"
}

step_fault_exit() {
	play_faults <<- 'END'
		exit 100 100
		exit-thread 200 200
		_exit 100 some
	END
}

step_fault_kill() {
	play_faults <<- 'END'
		kill-later 100 100
		kill 100 some
	END
}

step_fault_term() {
	play_faults <<- 'END'
		term-handled 100 100
		term 100 some
	END
}

step_fault_fork() {
	play_faults <<- 'END'
		fork 200 200
		vfork 200 200
	END
}

step_fault_exec() {
	play_faults <<- 'END'
		exec 100 100
		exec-itself 200 200
	END
}

step_fault_threads() {
	play_faults <<< 'threads 10000 10000'
}

step_fault_reset() {
	play_faults <<- 'END'
		reset 200 200
		ctx-destroy 500 500
	END
}

# Whether the kernel that traps has a record, and what CUPTI still tells of behind it, is the
# driver's to say.
step_fault_error() {
	play_faults <<- 'END'
		failed-launches 300 200
		error-state 101-201 0-101
	END
}

# PyTorch's DataLoader has worker processes, which are forks and use no CUDA: the same
# kernels are recorded, whether they are killed or end in order.
step_fault_loader() {
	local dir way counts=()
	python3 -c 'import torch' 2> /dev/null || skip "no torch here"
	target_env=(env -u LD_LIBRARY_PATH ${LD_LIBRARY_PATH:+"LD_LIBRARY_PATH=$LD_LIBRARY_PATH"})
	cp tests/workloads/torch_{step,workers}.py "$work/"
	for way in "" --kill; do
		dir=$work/fault_loader$way
		mkdir -p "$dir"
		(
			cd "$dir"
			perf_gpu record -- "${target_env[@]}" python3 ../torch_workers.py $way > out.txt 2> record.txt
		) || { cat "$dir/out.txt" "$dir/record.txt"; return 1; }
		cat "$dir/out.txt" "$dir/record.txt"
		perf_gpu script -q -i "$dir/perf.data" -F event,ip,sym > "$dir/script.txt"
		! grep -q '\[unattributed\]' "$dir/script.txt" || { echo "kernels without a launch"; return 1; }
		counts+=("$(grep -c 'gpu-kernel:' "$dir/script.txt")")
	done
	grep -q '^killed: DataLoader worker' "$dir/out.txt" || { echo "no worker was killed"; return 1; }
	echo "DataLoader workers killed: ${counts[1]} kernels; not killed: ${counts[0]}"
	[[ ${counts[0]} -gt 0 && ${counts[0]} = "${counts[1]}" ]]
}
