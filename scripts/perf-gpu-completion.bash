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
	# What follows the recorded command's name is its own.
	for ((i = 2; i < COMP_CWORD; i++)); do
		if [ "${COMP_WORDS[i]}" = -- ]; then
			if declare -F _command_offset >/dev/null; then
				_command_offset $((i + 1))
			fi
			return
		fi
	done
	case $previous in
	--call-graph)
		mapfile -t COMPREPLY < <(compgen -W "unwind fp dwarf" -- "$current")
		;;
	--python)
		mapfile -t COMPREPLY < <(compgen -W "walk trampoline off" -- "$current")
		;;
	--probe)
		mapfile -t COMPREPLY < <(compgen -W "marker api none" -- "$current")
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
