# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# Completion of perf-gpu for bash. Commands and options are read from --help, so that
# there is no second list of them.

_perf_gpu_commands()
{
	perf-gpu --help 2>/dev/null | sed -n '/^ Commands:/,$ s/^    \([a-z][a-z-]*\) .*/\1/p'
}

_perf_gpu_options()
{
	perf-gpu "$@" --help 2>/dev/null |
		sed -n 's/^ \{4\}\( \{4\}\|-., \)\(--[a-z0-9-]*\).*/\2/p'
}

_perf_gpu_events()
{
	perf-gpu list 2>/dev/null | sed -n 's/^  \(gpu-[a-z]*\) .*/\1/p'
}

# The last word of a list with commas, which may have a sign; what precedes it stays.
_perf_gpu_complete_list()
{
	local word=${1##*,}

	word=${word#[+-]}
	compgen -P "${1%"$word"}" -W "$2" -- "$word"
}

_perf_gpu()
{
	local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
	local command=${COMP_WORDS[1]} i

	COMPREPLY=()
	if [ "$COMP_CWORD" -eq 1 ]; then
		mapfile -t COMPREPLY < <(compgen -W "$(_perf_gpu_commands) $(_perf_gpu_options)" -- "$current")
		return
	fi
	if [ "$command" = help ]; then
		mapfile -t COMPREPLY < <(compgen -W "$(_perf_gpu_commands)" -- "$current")
		return
	fi
	# What follows the recorded command's name is its own; hotspot's options take files.
	for ((i = 2; i < COMP_CWORD; i++)); do
		if [ "${COMP_WORDS[i]}" = -- ]; then
			if [ "$command" = hotspot ] || [ "$command" = tui ]; then
				mapfile -t COMPREPLY < <(compgen -f -- "$current")
			elif declare -F _command_offset >/dev/null; then
				_command_offset $((i + 1))
			fi
			return
		fi
	done
	case $previous in
	-e | --event)
		mapfile -t COMPREPLY < <(_perf_gpu_complete_list "$current" "$(_perf_gpu_events) all")
		;;
	--weight)
		mapfile -t COMPREPLY < <(compgen -W "ns bytes" -- "$current")
		;;
	--unit)
		mapfile -t COMPREPLY < <(compgen -W "ns us ms" -- "$current")
		;;
	--call-graph)
		mapfile -t COMPREPLY < <(compgen -W "unwind fp dwarf" -- "$current")
		;;
	--python)
		mapfile -t COMPREPLY < <(compgen -W "walk trampoline off" -- "$current")
		;;
	--probe)
		mapfile -t COMPREPLY < <(compgen -W "marker api none" -- "$current")
		;;
	--capture-range)
		mapfile -t COMPREPLY < <(compgen -W "cudaProfilerApi none" -- "$current")
		;;
	--switch-output)
		mapfile -t COMPREPLY < <(compgen -W "signal" -- "$current")
		;;
	--stacks)
		mapfile -t COMPREPLY < <(compgen -W "auto uprobe process" -- "$current")
		;;
	--run-as)
		mapfile -t COMPREPLY < <(compgen -u -- "$current")
		;;
	--names)
		mapfile -t COMPREPLY < <(compgen -W "full short mangled" -- "$current")
		;;
	--label)
		mapfile -t COMPREPLY < <(_perf_gpu_complete_list "$current" "device stream context graph nvtx rank")
		;;
	--by)
		mapfile -t COMPREPLY < <(_perf_gpu_complete_list "$current" "device stream process rank nvtx")
		;;
	--sort)
		mapfile -t COMPREPLY < <(compgen -W "total calls mean median min max stddev bytes name" -- "$current")
		;;
	--label-at)
		mapfile -t COMPREPLY < <(compgen -W "leaf root" -- "$current")
		;;
	--threads)
		mapfile -t COMPREPLY < <(compgen -W "launch stream" -- "$current")
		;;
	--graph-stacks)
		mapfile -t COMPREPLY < <(compgen -W "both launch capture" -- "$current")
		;;
	*)
		if [[ $current == -* ]]; then
			mapfile -t COMPREPLY < <(compgen -W "$(_perf_gpu_options "$command")" -- "$current")
		else
			mapfile -t COMPREPLY < <(compgen -f -- "$current")
		fi
		;;
	esac
}

complete -o filenames -F _perf_gpu perf-gpu
