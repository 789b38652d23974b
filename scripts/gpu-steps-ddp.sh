# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154,SC2317
#
# Sourced by gpu-run.sh: steps that need two GPUs.

# Two processes that train together, as torchrun starts them; what their program is told.
torchrun=(python3 -m torch.distributed.run --nnodes=1 --nproc-per-node=2 --master-addr=127.0.0.1)

need_two_gpus() {
	[[ $(python3 -c 'import torch; print(torch.cuda.device_count())' 2> /dev/null) -ge 2 ]] ||
		skip "no torch with two GPUs here"
	target_env=(env -u LD_LIBRARY_PATH ${LD_LIBRARY_PATH:+"LD_LIBRARY_PATH=$LD_LIBRARY_PATH"})
	export NCCL_NVLS_ENABLE=0 # multicast on the links between GPUs, which others may share
	cp tests/workloads/{torch,ddp}_step.py "$work/"
	rm -rf "${work:?}/$1"
	mkdir -p "$work/$1"
}

# check_ddp NAME [option of check_ddp.py ...]: of a recording perf.data in the folder NAME
check_ddp() {
	local dir=$work/$1
	perf_gpu script -i "$dir/perf.data" \
		-F comm,pid,tid,time,period,event,ip,sym,dso,device,rank,bytes |
		python3 tests/workloads/check_ddp.py "$dir/launched.txt" "$dir/perf.data.gpu" - "${@:2}"
}

# All ranks in one recording; each in one of its own, then merged; and each with a GPU 0.
step_ddp() {
	local dir rank status=0
	need_two_gpus ddp
	find_profilers
	record_program ddp -e "$all_events" -- env PERF_GPU_CUPTI="$workloads/libcupti_tee.so" \
		CUPTI_TEE_OUTPUT="$work/ddp/cupti.txt" "${torchrun[@]}" ../ddp_step.py
	check_ddp ddp --cupti "$work/ddp/cupti.txt" || status=1
	quality ddp --require 100,99.9 || status=1

	need_two_gpus ddp_ranks
	dir=$work/ddp_ranks
	(
		cd "$dir" || exit
		export -f perf_gpu
		export bundle PERF_GPU target_path=${LD_LIBRARY_PATH:-}
		"${target_env[@]}" "${torchrun[@]}" --no-python bash -c \
			'perf_gpu record -o perf.%h.%r.data -- env LD_LIBRARY_PATH="$target_path" \
				python3 ../ddp_step.py' > launched.txt
		ls -l perf.*.data
		perf_gpu merge -o perf.data perf.*.[01].data
		rm perf.*.[01].data*
	)
	check_ddp ddp_ranks || status=1
	quality ddp_ranks --require 100,99.9 || status=1

	# As small as can be: a fixture
	need_two_gpus ddp_small
	record_program ddp_small -- "${torchrun[@]}" ../ddp_step.py -n 1 -w 0
	check_ddp ddp_small || status=1

	need_two_gpus ddp_own
	record_program ddp_own -- "${torchrun[@]}" ../ddp_step.py --own-gpu-only
	check_ddp ddp_own || status=1
	for rank in label=rank,device threads=stream; do
		perf_gpu script -q -i "$work/ddp/perf.data" -e gpu-kernel,gpu-memcpy "--$rank" \
			-F comm,event,ip,sym > "$work/ddp/${rank%%=*}.txt"
		head -n 12 "$work/ddp/${rank%%=*}.txt"
		rm "$work/ddp/${rank%%=*}.txt"
	done
	return "$status"
}

# What a step costs: without a profiler, with perf-gpu, with nsys, in turns.
step_ddp_cost() {
	local dir=$work/ddp_cost how
	need_two_gpus ddp_cost
	find_profilers
	for _ in 1 2; do
		for how in bare perf-gpu process nsys; do
			(
				cd "$dir" || exit
				case $how in
				perf-gpu) prefix=(perf_gpu record -q -o perf.data --) ;;
				process) prefix=(perf_gpu record -q --stacks process -o perf.data --) ;;
				nsys) prefix=(nsys profile -t cuda -s none -f true -o nsys) ;;
				*) prefix=() ;;
				esac
				[[ $how != nsys ]] || command -v nsys > /dev/null || exit 0
				"${prefix[@]}" "${target_env[@]}" "${torchrun[@]}" ../ddp_step.py -n 100 2> err.txt |
					awk -v how="$how" -F '\t' '$1 == "rank" { print how "\t" $6 }' >> times.txt
			)
		done
	done
	rm -f "$dir"/{perf.data,nsys}*
	sort -t $'\t' -k 1,1 -k 2,2n "$dir/times.txt" | awk -F '\t' '
		{ time[$1, ++nr[$1]] = $2 }
		END {
			for (how in nr) {
				median = time[how, int((nr[how] + 1) / 2)] + time[how, int(nr[how] / 2) + 1]
				printf "%-10s %.3f ms a step (median of %d ranks)\n", how, median / 2e6, nr[how]
			}
		}' | tee "$dir/table.txt"
	[[ $(wc -l < "$dir/table.txt") -ge 3 ]]
}
