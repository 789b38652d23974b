#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What recording costs a PyTorch training step (tests/workloads/torch_step.py): blocks of
steps, recorded and not recorded by turns within one process.

Prints one line with tabs, all in ns a step, as first quartile, median and third quartile:
VARIANT (see switch.h), off (3 numbers), on (3), on - off of neighbours (3).
"""
import argparse
import ctypes
import os
import statistics
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../workloads"))


def quartiles(values):
    return [f"{value:.0f}" for value in statistics.quantiles(values, n=4)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--switch", required=True, help="libswitch.so")
    parser.add_argument("-v", "--variant", default="bare")
    parser.add_argument("-p", "--pairs", type=int, default=40)
    parser.add_argument("-n", "--steps", type=int, default=5, help="in a block")
    arguments = parser.parse_args()

    switch = ctypes.CDLL(arguments.switch)
    switch.switch__prepare(arguments.variant.encode())

    import torch
    import torch_step

    torch.manual_seed(0)
    model = torch_step.Model().cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
    tokens = torch.randint(torch_step.VOCABULARY,
                           (torch_step.BATCH, torch_step.LENGTH + 1), device="cuda")

    def block(nr_steps):
        torch.cuda.synchronize()
        start_ns = time.perf_counter_ns()
        for _ in range(nr_steps):
            torch_step.train_step(model, optimizer, tokens)
        torch.cuda.synchronize()
        return (time.perf_counter_ns() - start_ns) / nr_steps

    block(20)
    off, on = [], []
    for _ in range(arguments.pairs):
        switch.switch__off()
        block(1)
        off.append(block(arguments.steps))
        switch.switch__on()
        block(1)
        on.append(block(arguments.steps))
    differences = [b - a for a, b in zip(off, on)]
    print("\t".join([arguments.variant] + quartiles(off) + quartiles(on)
                    + quartiles(differences)))


if __name__ == "__main__":
    main()
