#!/bin/bash
# The tables of faults: each row is played by a test, each word is said in some row
. "$(dirname "$0")/lib.sh"

read_words
for name in target recorder; do
	[ -e "$FAULTS/$name.md" ] || continue
	cells "$FAULTS/$name.md" | awk -F '\t' 'NF != 7 { print }' >wrong
	expect "$name.md: a row has seven cells" "" "$(cat wrong)"
	cells "$FAULTS/$name.md" | awk -F '\t' '$1 != "fault" && $1 !~ /^-/ { print $1 }' | sort -u >rows
	grep -lZ "^rows_of $name.md" "$FAULTS"/test_*.sh | xargs -0 cat |
		sed -nE 's/^\s*play ([^ ;]+).*/\1/p' | sort -u >played
	expect "$name.md: the rows are those that tests play" "$(cat rows)" "$(cat played)"
	cells "$FAULTS/$name.md" | cut -f 7 | sed 's/, /\n/g' >>said
done
expect "each word has been said" "$(cut -f 1 words | sort -u)" \
	"$(grep -vxE 'said|-+|–' said | sort -u)"

# promises.md names tests that are there, and targets of the Makefile.
grep -o '`[a-z]*/[a-z_]*\.[a-z]*`' "$FAULTS/promises.md" | tr -d '`' | sort -u >named
while read -r test; do
	[ -e "$TESTS/$test" ] || echo "$test"
done <named >gone
expect "promises.md: the tests that it names are there" "" "$(cat gone)"
expect "promises.md: it names tests" 1 "$(($(wc -l <named) > 40))"
for target in $(grep -o '`make [a-z]*`' "$FAULTS/promises.md" | tr -d '`' | cut -d ' ' -f 2 | sort -u); do
	grep -qE "^$target( [a-z]+)*:" "$TESTS/../Makefile" "$TESTS"/*/*.inc || echo "$target"
done >gone
expect "promises.md: and targets that the Makefile has" "" "$(cat gone)"
cells "$FAULTS/promises.md" | awk -F '\t' '$1 !~ /^(\*\*|promise|-)/ && $2 == "" { print $1 }' >bare
expect "promises.md: each promise has a test" "" "$(cat bare)"
