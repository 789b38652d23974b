#!/bin/bash
# scripts/features.sh: how tools that the build and the tests need are found
. "$(dirname "$0")/lib.sh"

# tool NAME COMMAND: one that comes first on PATH
mkdir bin
tool()
{
	printf '#!/bin/sh\n%s\n' "$2" >"bin/$1"
	chmod 755 "bin/$1"
}

# The packages that are missing, whatever this distribution calls them
missing()
{
	PATH=$PWD/bin:$PATH "$TESTS/../scripts/features.sh" --missing tests | sort
}

tool clang-format "echo clang-format version 14.0.6"
others=$(missing)
tool clang-format "echo broken >&2; exit 1"
expect "a tool that doesn't say its version is missing" 1 "$(comm -13 <(echo "$others") <(missing) | wc -l)"

# Who reads no more than the first line ends it by SIGPIPE while it still writes.
tool clang-format "echo clang-format version 14.0.6; sleep 0.5; yes | head -n 100000"
expect "one that says much more is there" "$others" "$(missing)"
