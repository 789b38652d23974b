# SPDX-License-Identifier: GPL-2.0-or-later
"""Compare a .proto of ours, which has some fields of a format, with the published one.

usage: compare_proto.py OURS PUBLISHED

Every field of ours must be there by its name, with the same number, and be the same on the
wire: the same type, or an enum for a number, or a message of another name that is as ours;
and repeated in both or in neither. Prints what isn't so, and "N fields of M messages".
"""
import re
import sys

VARINT = {"int32", "int64", "uint32", "uint64", "bool"}
FIELD = re.compile(r"(?:(optional|repeated|required)\s+)?([\w.]+)\s+(\w+)\s*=\s*(\d+)")


def parse(path):
    """Message -> field -> (label, type, number); names of enums. Inner messages by their own name."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    text = re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.S)
    text = re.sub(r'"[^"\n]*"', '""', text)
    messages, enums, stack = {}, set(), []
    for part in re.findall(r"[^;{}]*[;{}]", text):
        head, end = part[:-1].strip(), part[-1]
        if end == "}":
            if stack:
                stack.pop()
            continue
        if end == "{":
            kind, _, name = head.partition(" ")
            name = name.split()[0] if name else ""
            outer = next((m for k, m in reversed(stack) if k == "message"), None)
            full = f"{outer}.{name}" if outer and kind in ("message", "enum") else name
            stack.append((kind, full))
            if kind == "message":
                messages.setdefault(full, {})
            elif kind == "enum":
                enums.add(full)
            continue
        if not stack or stack[-1][0] not in ("message", "oneof"):
            continue
        message = next(m for k, m in reversed(stack) if k == "message")
        found = FIELD.match(head)
        if found:
            label, kind, name, number = found.groups()
            messages[message][name] = (label == "repeated", kind, int(number))
    return messages, enums


def resolve(messages, scope, name):
    """A type's name, as seen from within a message."""
    name = name.split("protos.")[-1]
    while True:
        full = f"{scope}.{name}" if scope else name
        if full in messages:
            return full
        if not scope:
            return None
        scope = scope.rpartition(".")[0]


class Comparison:
    def __init__(self, ours, published):
        self.ours, _ = parse(ours)
        self.published, self.enums = parse(published)
        self.wrong, self.pairs, self.nr_fields = [], set(), 0

    def compare_types(self, where, pair, types):
        our, their = types
        own = resolve(self.ours, pair[0], our)
        other = resolve(self.published, pair[1], their)
        if own and other:
            self.compare(own, other)
        elif own and resolve(dict.fromkeys(self.enums), pair[1], their):
            self.wrong.append(f"{where}: a message here, an enum there")
        elif our != their and not (
                (our in VARINT or our == "Type") and
                (their in VARINT or resolve(dict.fromkeys(self.enums), pair[1], their))):
            self.wrong.append(f"{where}: {our} here, {their} there")

    def compare(self, own, other):
        if (own, other) in self.pairs:
            return
        self.pairs.add((own, other))
        for name, (repeated, kind, number) in self.ours[own].items():
            where = f"{own}.{name}"
            self.nr_fields += 1
            if name not in self.published[other]:
                self.wrong.append(f"{where}: not in {other}")
                continue
            is_repeated, their, their_number = self.published[other][name]
            if (repeated, number) != (is_repeated, their_number):
                self.wrong.append(f"{where}: {number} here, {their_number} in {other}")
            self.compare_types(where, (own, other), (kind, their))


def main():
    comparison = Comparison(*sys.argv[1:3])
    root = next(iter(comparison.ours))
    comparison.compare(root, root)
    print("\n".join(comparison.wrong + [
        f"{comparison.nr_fields} fields of {len(comparison.pairs)} messages"]))
    sys.exit(1 if comparison.wrong else 0)


main()
