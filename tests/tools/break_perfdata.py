#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""break_perfdata.py IN OUT-FOLDER: of a recording, files that are each broken in one way,
or are odd in one, by the name of the way. Prints a line for each:

    NAME  read|refused  REGEX

read: nothing of GPU time may be lost; REGEX is of what is to be said,
"-" for nothing, "?" for something or nothing."""

import os
import struct
import sys

MAX64 = 2**64 - 1
MAGIC, SIZE, ATTR_SIZE, ATTRS, DATA, FEATURES = 0, 8, 16, 24, 40, 72
ARCH, EVENT_DESC, HOSTNAME, BUILD_ID, CMDLINE = 6, 12, 3, 2, 11
COMM, FORK, SAMPLE, MMAP2, AUX = 3, 7, 9, 10, 11
ROUND, AUXTRACE_INFO, AUXTRACE, ATTR, FEATURE = 68, 70, 71, 64, 80

WHOLE = open(sys.argv[1], "rb").read()
CASES = []


def case(expected, regex="-"):
    """A function that gives the file, which is called as the function is."""
    def add(function):
        CASES.append((function.__name__.replace("_", "-"), expected, regex, function))
        return function
    return add


def u64(data, at):
    return struct.unpack_from("<Q", data, at)[0]


def with_u64(at, value, data=WHOLE):
    copy = bytearray(data)
    struct.pack_into("<Q", copy, at, value & MAX64)
    return copy


DATA_AT = u64(WHOLE, DATA)
DATA_END = DATA_AT + u64(WHOLE, DATA + 8)
ATTRS_AT = u64(WHOLE, ATTRS)
IDS_AT = ATTRS_AT + u64(WHOLE, ATTR_SIZE) - 16


def records():
    at = DATA_AT
    while at < DATA_END:
        kind, misc, size = struct.unpack_from("<IHH", WHOLE, at)
        yield at, kind, size
        at += size


def nth(kind, n):
    """Where the n-th record of a kind is."""
    return [at for at, k, _ in records() if k == kind][n]


def feature(bit):
    """Where the section of a feature is told."""
    nr = sum(1 for i in range(bit) if u64(WHOLE, FEATURES + i // 64 * 8) >> i % 64 & 1)
    return DATA_END + 16 * nr


def with_size(at, size):
    copy = bytearray(WHOLE)
    struct.pack_into("<H", copy, at + 6, size)
    return copy


def rebuilt(data, features=True):
    """The file with other records; what is behind them moves."""
    distance = len(data) - (DATA_END - DATA_AT)
    copy = bytearray(WHOLE[:DATA_AT]) + data
    struct.pack_into("<Q", copy, DATA + 8, len(data))
    tail = bytearray(WHOLE[DATA_END:])
    bits = sum(bin(u64(WHOLE, FEATURES + 8 * i)).count("1") for i in range(4))
    for i in range(bits):
        struct.pack_into("<Q", tail, 16 * i, u64(tail, 16 * i) + distance)
    return copy + tail if features else copy


def with_record(record):
    """One more, in the middle; the recorder's sample_id is behind what it has."""
    at = nth(SAMPLE, 10)
    return rebuilt(WHOLE[DATA_AT:at] + record + WHOLE[at:DATA_END])


def record(kind, body, misc=0, size=None):
    return struct.pack("<IHH", kind, misc, 8 + len(body) if size is None else size) + body


# --- sizes

@case("refused", "a record's size is none")
def record_of_0_bytes():
    return with_size(nth(SAMPLE, 5), 0)

@case("refused", "a record's size is none")
def record_of_7_bytes():
    return with_size(nth(SAMPLE, 5), 7)

@case("refused", "a record's size is none")
def record_of_12_bytes():
    return with_size(nth(SAMPLE, 5), 12)

@case("refused", "goes on behind the last one")
def record_behind_the_end():
    return with_size(list(records())[-1][0], 65528)

@case("refused", "its header has a size that none has")
def header_of_0_bytes():
    return with_u64(SIZE, 0)

@case("refused", "its header has a size that none has")
def header_of_2_64_bytes():
    return with_u64(SIZE, MAX64)

@case("refused", "attributes have a size that none has")
def attr_of_0_bytes():
    return with_u64(ATTR_SIZE, 0)

@case("refused", "attributes have a size that none has")
def attr_of_2_64_bytes():
    return with_u64(ATTR_SIZE, MAX64)

@case("refused", "its events are out of place")
def attrs_of_2_64_bytes():
    return with_u64(ATTRS + 8, MAX64 - MAX64 % u64(WHOLE, ATTR_SIZE))

@case("refused", "its events are out of place")
def attrs_behind_the_end():
    return with_u64(ATTRS, MAX64 - 7)

@case("refused", "its records are out of place")
def records_behind_the_end():
    return with_u64(DATA, MAX64 - 7)

@case("read", "was cut off")
def records_of_2_64_bytes():
    return with_u64(DATA + 8, MAX64 - 7)[:DATA_END]

@case("refused", "the ids of an event are out of place")
def ids_of_2_64_bytes():
    return with_u64(IDS_AT + 8, MAX64 - 7)

@case("refused", "the ids of an event are out of place")
def ids_behind_the_end():
    return with_u64(IDS_AT, 2**63)

@case("read")
def attr_that_says_it_has_0_bytes():
    copy = bytearray(WHOLE)
    struct.pack_into("<I", copy, ATTRS_AT + 4, 0)
    return copy


# --- counts near 2^64, in records that are one more

@case("read", "could not be read")
def frames_of_2_64():
    at = nth(SAMPLE, 3)
    size = struct.unpack_from("<H", WHOLE, at + 6)[0]
    return with_record(WHOLE[at:at + 8] + b"\xff" * (size - 8))

@case("read", "could not be read")
def thread_without_a_name():
    return with_record(record(COMM, struct.pack("<II", 1, 1)))

@case("read", "could not be read")
def name_without_end():
    return with_record(record(COMM, struct.pack("<II", 1, 1) + b"x" * 64))

@case("read", "could not be read")
def mapping_without_end():
    return with_record(record(MMAP2, struct.pack("<IIQQQ24sII", 1, 1, 4096, MAX64 - 4095, 0,
                                                 b"", 5, 2) + b"/" * 64, 2))

@case("read", "could not be read")
def mapping_around_the_end():
    return with_record(record(MMAP2, struct.pack("<IIQQQ24sII", 1, 1, MAX64 - 4095, 8192, 0,
                                                 b"", 5, 2) + b"/bin/true".ljust(64, b"\0"), 2))

@case("read", "could not be read")
def mapping_of_8_bytes():
    return with_record(record(MMAP2, b"", 2))

# Which perf copies all of into 20 bytes
@case("read")
def build_id_of_255_bytes():
    return with_record(record(MMAP2, struct.pack("<IIQQQ24sII", 1, 1, 4096, 4096, 0,
                                                 b"\xff" * 24, 5, 2) +
                              b"/bin/true".ljust(128, b"\0"), 2 | 1 << 14))

@case("read")
def process_that_is_its_own_parent():
    return with_record(record(FORK, struct.pack("<IIIIQ", 7, 7, 7, 7, 1) + bytes(48)))

@case("read")
def process_of_pid_2_32():
    return with_record(record(FORK, struct.pack("<IIIIQ", *[2**32 - 1] * 4, MAX64) + b"\xff" * 48))

@case("read")
def unknown_record():
    return with_record(record(63, bytes(64)))

@case("read")
def unknown_record_of_perf():
    return with_record(record(2**32 - 1, bytes(64)))


# --- features

def with_feature(bit, data):
    at = feature(bit)
    copy = with_u64(at, len(WHOLE))
    return with_u64(at + 8, len(data), copy) + data

@case("read")
def hostname_of_2_32_bytes():
    return with_feature(HOSTNAME, struct.pack("<I", 2**32 - 1) + b"host")

@case("read")
def hostname_without_end():
    return with_feature(HOSTNAME, struct.pack("<I", 64) + b"x" * 64)

@case("read")
def events_of_2_32():
    return with_feature(EVENT_DESC, struct.pack("<II", 2**32 - 1, 0))

@case("read")
def events_with_attrs_of_2_32_bytes():
    return with_feature(EVENT_DESC, struct.pack("<II", 1, 2**32 - 1))

@case("read")
def words_of_2_32():
    return with_feature(CMDLINE, struct.pack("<I", 2**32 - 1))

@case("read", "could not be read")
def build_id_of_0_bytes():
    return with_feature(BUILD_ID, bytes(256))

@case("read", "could not be read")
def build_id_behind_the_end():
    return with_feature(BUILD_ID, record(0, bytes(64), size=65535))

@case("read", "lacks its end")
def feature_of_2_64_bytes():
    return with_u64(feature(HOSTNAME) + 8, MAX64)

@case("read", "lacks its end")
def feature_behind_the_end():
    return with_u64(feature(HOSTNAME), MAX64)

@case("read", "lacks its end")
def all_bits_of_features():
    copy = bytearray(WHOLE)
    copy[FEATURES + 8:FEATURES + 32] = b"\xff" * 24
    return copy[:DATA_END] + WHOLE[DATA_END:]


# --- sections that overlap

@case("read")
def feature_over_the_header():
    return with_u64(feature(HOSTNAME) + 8, 4096, with_u64(feature(HOSTNAME), 0))

# What they look like as build ids depends on what was recorded.
@case("read", "?")
def build_ids_over_the_records():
    return with_u64(feature(BUILD_ID) + 8, 4096, with_u64(feature(BUILD_ID), DATA_AT))

@case("refused", "broken|no launches|not recorded")
def records_over_the_header():
    return with_u64(DATA, 0)

@case("refused", "broken|no launches|not recorded|out of place")
def attrs_over_the_records():
    return with_u64(ATTRS, DATA_AT)

@case("read", "could not be read")
def ids_over_the_header():
    return with_u64(IDS_AT + 8, 104, with_u64(IDS_AT, 0))


# --- what other recorders write

@case("refused", "other byte order")
def other_byte_order():
    return WHOLE[:8][::-1] + WHOLE[8:]

@case("refused", "other byte order")
def other_byte_order_of_a_pipe():
    return WHOLE[:8][::-1] + struct.pack(">Q", 16)

@case("refused", "format of before 2010")
def version_1():
    return b"PERFFILE" + WHOLE[8:]

# The same layout: all of perf.data has fixed sizes
@case("read")
def of_a_32_bit_machine():
    return with_feature(ARCH, struct.pack("<I", 64) + b"i686".ljust(64, b"\0"))

@case("read")
def aux_data():
    return with_record(record(AUXTRACE_INFO, struct.pack("<IIQ", 1, 0, 0)) +
                       record(AUX, struct.pack("<QQQ", 0, 64, 0) + bytes(48)) +
                       record(AUXTRACE, struct.pack("<QQQIIII", 64, 0, 0, 0, 0, 0, 0)) +
                       b"\1\2\3\4\5\6\7\x08" * 8)

@case("refused", "goes on behind the last one")
def aux_data_of_2_64_bytes():
    return with_record(record(AUXTRACE, struct.pack("<QQQIIII", MAX64 - 7, 0, 0, 0, 0, 0, 0)))

@case("refused", "payload isn't whole")
def aux_data_of_7_bytes():
    return with_record(record(AUXTRACE, struct.pack("<QQQIIII", 7, 0, 0, 0, 0, 0, 0)) + bytes(8))

@case("read", "was cut off")
def killed_recorder():
    return with_u64(DATA + 8, 0)[:DATA_END]

@case("refused", "has no events in it")
def pipe_without_events():
    return WHOLE[:8] + struct.pack("<Q", 16)

@case("refused", "a record's size is none")
def pipe_with_a_record_of_0_bytes():
    return WHOLE[:8] + struct.pack("<Q", 16) + bytes(64)

@case("refused", "compressed in a file that says that none is")
def compressed_that_no_header_tells_of():
    return with_record(record(81, bytes(56)))

@case("refused", "can't be decompressed|built without zstd")
def compressed_nonsense():
    copy = with_record(record(81, b"nonsense" * 7))
    return with_u64(FEATURES, u64(copy, FEATURES) | 1 << 27, copy)


for name, expected, regex, function in CASES:
    with open(os.path.join(sys.argv[2], name), "wb") as out:
        out.write(function())
    print(name, expected, regex)
