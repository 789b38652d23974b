#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares a recording with what the recorded program says that it did, event by event.

The program's output has lines as event_truth.cu describes them:
    did  EVENT  UNIT  COUNT  KNOWN  LEAST  MOST  LEAF  FUNCTION  [MAKER]
The samples of EVENT and LEAF that have FUNCTION in their stack, and MAKER, if there is
one, and no other function that does something of that event, must be COUNT and add up to
what is said: KNOWN exactly if that is bytes; of ns no less than LEAST and no more than
MOST, but for what clocks may differ, and with --within PERCENT, that close to KNOWN. LEAF
"*" is any, FUNCTION "-" takes what no other line has. All samples of an event together must
be as many as the sidecar has records of it, and add up to what these do, exactly.

Reads text of `perf-gpu script` (or `perf script`) of any events:
    perf-gpu script -e gpu-sync > sync.txt
    perf-gpu script -e gpu-memcpy,gpu-memset --weight=bytes > bytes.txt
    perf-gpu script -e gpu-alloc --leaks > leaks.txt
    check_events.py did.txt sync.txt --bytes bytes.txt --leaks leaks.txt --sidecar perf.data.gpu
Lines about an event of which no text was given are not looked at.
"""
import argparse
import collections
import re
import sys

sys.dont_write_bytecode = True
import check_truth  # noqa: E402
import event_sums  # noqa: E402
import gpu_log  # noqa: E402

# By which the GPU's clock, as CUPTI translates it, may differ from the program's (on an
# H200: 0.0001 % of a kernel of 400 ms, 0.05 % of a wait of 50 ms).
CLOCKS = 0.001

# main 1234/1240 56.789: 2345 gpu-sync:
HEADER = re.compile(r"^\s*\S.*\s[\d.]+:\s+(\d+)\s+(gpu-[a-z]+):")
# What comes before the leaf's name: its address; and behind: an offset, a DSO
ADDRESS = re.compile(r"^[0-9a-f]+\s+")
BEHIND = re.compile(r"(\+0x[0-9a-f]+)?(\s+\([^()]*(\(deleted\))?\))?$")
UNIT_OF = {"gpu-alloc": "bytes", "gpu-fault": "bytes"}  # the others' is ns
WEIGHABLE = {"gpu-memcpy", "gpu-memset"}  # by bytes, too; gpu-fault is anyway
# In these, everything is by a function that says so.
CLOSED = {"gpu-kernel", "gpu-memcpy", "gpu-memset", "gpu-alloc", "leaks"}
STATIC = re.compile(r"^(device|managed) static")  # a module's variables, which load with it
MAX_COMPLAINTS = 40

Sample = collections.namedtuple("Sample", "event unit period leaf frames")


class Fact:
    def __init__(self, fields):
        self.event, self.unit = fields[:2]
        self.count, self.known, self.least, self.most = (
            None if field == "-" else int(field) for field in fields[2:6])
        self.leaf, self.function = fields[6:8]
        self.maker = fields[8] if len(fields) > 8 else None
        self.nr_seen = self.sum_seen = 0
        self.is_possible = True  # CUPTI may have no record of such things

    def key(self):
        return self.leaf, self.function, self.maker

    def merge(self, other):
        """The function did it again: what is known of both is known of their sum."""
        for name in "count", "known", "least", "most":
            mine, its = getattr(self, name), getattr(other, name)
            setattr(self, name, None if None in (mine, its) else mine + its)

    def functions(self):
        return {self.function, self.maker} - {None}

    def fits_leaf(self, leaf):
        return self.leaf in ("*", leaf)

    def wrongs(self, within):
        """What is not as it says, in words."""
        if not self.is_possible:
            if self.nr_seen:
                yield f"{self.nr_seen} samples of what CUPTI isn't to have records of"
            return
        if self.count is not None and self.nr_seen != self.count:
            yield f"{self.nr_seen} samples, not {self.count}"
        if self.unit == "bytes" and self.known is not None and self.sum_seen != self.known:
            yield f"{self.sum_seen} bytes, not {self.known}"
        if self.least is not None and self.sum_seen < self.least * (1 - CLOCKS):
            yield f"{self.sum_seen} {self.unit}, at least {self.least} by the program's clock"
        if self.most is not None and self.sum_seen > self.most * (1 + CLOCKS):
            yield f"{self.sum_seen} {self.unit}, at most {self.most} by the program's clock"
        if self.unit == "ns" and within and self.known:
            percent = 100 * (self.sum_seen - self.known) / self.known
            if abs(percent) > within:
                yield f"{self.sum_seen} ns, {percent:+.2f} % off the {self.known} that it must be"

    def title(self):
        return f"{self.event} {self.leaf} by {self.function}"


def leaf_name(event, frame):
    """What stands behind [GPU_Sync] in the first frame; of a kernel, without arguments."""
    text = BEHIND.sub("", ADDRESS.sub("", frame))
    begin = text.find("]")
    name = text[begin + 1:] if text.startswith("[GPU_") else text
    return name.split("(")[0] if event in ("gpu-kernel", "gpu-queue") else name


def samples(lines, event_of=None, unit_of=None):
    """Of text. @event_of, @unit_of: whatever the text calls them"""
    header, frames = None, []
    for line in [*lines, ""]:
        match = HEADER.match(line)
        if match or not line.strip():
            if header:
                period, event = int(header.group(1)), header.group(2)
                yield Sample(event_of or event, unit_of or UNIT_OF.get(event, "ns"), period,
                             leaf_name(event, frames[0]) if frames else "", frames)
            header, frames = match, []
        elif header:
            frames.append(line.strip())


class Checker:
    def __init__(self, path):
        self.facts = collections.defaultdict(list)  # by event and unit
        with open(path) as lines:
            for line in lines:
                fields = line.rstrip("\n").split("\t")
                if fields[0] == "did":
                    self.add_fact(Fact(fields[1:]))
        # In a stack they are looked for by event: one may do things through another.
        self.names = {}
        for event in {event for event, _ in self.facts}:
            functions = set()
            for (other, _), facts in self.facts.items():
                if other == event:
                    functions.update(*(fact.functions() for fact in facts))
            self.names[event] = check_truth.Names(functions - {"-"})
        self.texts = set()  # (event, unit): of what there is text
        self.nr_samples = 0
        self.totals = collections.defaultdict(lambda: [0, 0])  # by event and unit
        self.complaints = []

    def add_fact(self, fact):
        facts = self.facts[fact.event, fact.unit]
        for other in facts:
            if other.key() == fact.key():
                other.merge(fact)
                return
        facts.append(fact)

    def adapt(self, without, tells_makers):
        """To a CUPTI that has no records of some things"""
        for facts in self.facts.values():
            for fact in facts:
                fact.maker = fact.maker if tells_makers else None
                fact.is_possible = f"{fact.event} {fact.leaf}" not in without

    def complain(self, text):
        self.complaints.append(text)

    def read(self, path, event=None, unit=None):
        """Text, which is of @event, or of what it says, and in @unit, or in the events' own"""
        with sys.stdin if path == "-" else open(path, errors="replace") as lines:
            for sample in samples(lines, event, unit):
                if event or not unit or sample.event in WEIGHABLE:
                    self.texts.add((sample.event, sample.unit))
                    self.add(sample)
        if event:
            self.texts.add((event, unit))

    def add(self, sample):
        self.nr_samples += 1
        total = self.totals[sample.event, sample.unit]
        total[0] += 1
        total[1] += sample.period
        facts = self.facts.get((sample.event, sample.unit))
        if not facts:
            return
        fact = self.find_fact(facts, sample)
        if fact:
            fact.nr_seen += 1
            fact.sum_seen += sample.period
        elif sample.event in CLOSED and not STATIC.search(sample.leaf):
            self.complain(f"{sample.event} {sample.leaf}, by nobody who says so: "
                          + " | ".join(sample.frames[:12]))

    def find_fact(self, facts, sample):
        names = self.names[sample.event]
        found = {names.find(frame) for frame in sample.frames[1:]} - {None}
        for fact in facts:
            if fact.fits_leaf(sample.leaf) and fact.functions() == found:
                return fact
        for fact in facts:
            if fact.fits_leaf(sample.leaf) and fact.function == "-" and not found:
                return fact
        return None

    def looked_at(self):
        """The facts of which there was text; all of an event if there was any of it."""
        for key, facts in self.facts.items():
            if key in self.texts:
                yield from facts

    def compare(self, within):
        for fact in self.looked_at():
            for wrong in fact.wrongs(within):
                self.complain(f"{fact.title()}: {wrong}")

    def print_facts(self, within):
        for fact in self.looked_at():
            wrong = ", ".join(fact.wrongs(within))
            print(f"{'WRONG' if wrong else 'ok':5} {fact.title():55} "
                  f"{fact.nr_seen} {fact.sum_seen} {fact.unit}" + (f": {wrong}" if wrong else ""))

    def compare_sums(self, sidecar):
        sums = event_sums.EventSums(gpu_log.GpuLog(sidecar)).sums
        for event, unit in sorted(self.texts):
            wanted = tuple(sums.get((event, unit), (0, 0)))
            got = tuple(self.totals[event, unit])
            if wanted != got:
                self.complain(f"{event}: {got[0]} samples of {got[1]} {unit}, in {sidecar}: "
                              f"{wanted[0]} of {wanted[1]}")


def records_kernels(sidecar):
    """Else CUPTI has no ids for the nodes of graphs, and nobody knows who made them."""
    log = gpu_log.GpuLog(sidecar)
    return any(kinds & 1 << gpu_log.KERNEL_KIND for _, kinds in log.events.values())


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("did", help="the program's output")
    parser.add_argument("script", nargs="*", help="perf-gpu script's text, - for stdin")
    parser.add_argument("--bytes", action="append", default=[],
                        help="with --weight=bytes; of gpu-memcpy and gpu-memset alone")
    parser.add_argument("--leaks", action="append", default=[], help="with --leaks")
    parser.add_argument("--events", default="", help="that the texts are of, by commas: if "
                        "there should be samples of one, and aren't, that is wrong")
    parser.add_argument("--sidecar", help="perf.data.gpu to compare with")
    parser.add_argument("--without", action="append", default=[], metavar="'EVENT LEAF'",
                        help="there must be none, since this CUPTI has no records of it")
    parser.add_argument("--within", type=float, metavar="PERCENT",
                        help="how close times must be to what they are by construction")
    parser.add_argument("-v", "--verbose", action="store_true", help="print each line's result")
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    checker = Checker(arguments.did)
    if not checker.facts:
        sys.exit(f"{arguments.did} says nothing that was done")
    checker.adapt(arguments.without, not arguments.sidecar or records_kernels(arguments.sidecar))
    events = set(filter(None, arguments.events.split(",")))
    checker.texts |= {(event, UNIT_OF.get(event, "ns")) for event in events}
    if arguments.bytes:
        checker.texts |= {(event, "bytes") for event in WEIGHABLE & events}
    for path in arguments.script:
        checker.read(path)
    for path in arguments.bytes:
        checker.read(path, unit="bytes")
    for path in arguments.leaks:
        checker.read(path, "leaks", "bytes")
    checker.compare(arguments.within)
    if arguments.sidecar:
        checker.compare_sums(arguments.sidecar)

    if arguments.verbose:
        checker.print_facts(arguments.within)
    for complaint in checker.complaints[:MAX_COMPLAINTS]:
        print(complaint)
    print(f"wrong={len(checker.complaints)} samples={checker.nr_samples} "
          f"facts={len(list(checker.looked_at()))} "
          f"events={','.join(sorted({event for event, _ in checker.texts}))}")
    return 1 if checker.complaints or not checker.nr_samples else 0


if __name__ == "__main__":
    sys.exit(main())
