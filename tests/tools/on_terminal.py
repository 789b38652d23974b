# SPDX-License-Identifier: GPL-2.0-or-later
"""Run a command in the foreground of a terminal, and print what the terminal gets.

usage: on_terminal.py [-c TEXT] [-l LINES] [-o FILE] COMMAND...

-c  Ctrl-C is pressed when the terminal has got TEXT for the first time
-l  the terminal has so many lines, of 80 columns; else it has no size
-o  the command's stdout is this file; else it is the terminal, too

What the terminal gets goes to stdout as it is. Exits with the command's status.
"""
import argparse
import fcntl
import os
import pty
import struct
import sys
import termios


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-c")
    parser.add_argument("-l", type=int)
    parser.add_argument("-o")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    args = parser.parse_args()

    child, terminal = pty.fork()
    if not child:
        if args.l:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", args.l, 80, 0, 0))
        if args.o:
            os.dup2(os.open(args.o, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644), 1)
        os.execvp(args.command[0], args.command)
    awaited = args.c and args.c.encode()
    seen = b""
    while True:
        try:
            got = os.read(terminal, 65536)
        except OSError:  # EIO: the other side is closed
            break
        if not got:
            break
        sys.stdout.buffer.write(got)
        if awaited:
            seen += got
            if awaited in seen:
                os.write(terminal, b"\3")
                awaited = None
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) & 255)


main()
