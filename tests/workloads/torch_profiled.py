#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A PyTorch training (torch_step.py's model) of which torch.profiler records some steps:
in the middle, or with --first from before CUDA is initialized.

Prints "profiled N kernels": what torch.profiler has recorded of the GPU.
"""
import argparse
import json
import os
import tempfile

import torch
from torch.profiler import ProfilerActivity, profile

import torch_step


def train(model, optimizer, nr_steps):
    shape = torch_step.BATCH, torch_step.LENGTH + 1
    tokens = torch.randint(torch_step.VOCABULARY, shape, device="cuda")
    for _ in range(nr_steps):
        torch_step.train_step(model, optimizer, tokens)
    torch.cuda.synchronize()


def make():
    torch.manual_seed(0)
    model = torch_step.Model().cuda()
    return model, torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)


def count_kernels(recording):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "trace.json")
        recording.export_chrome_trace(path)
        with open(path, encoding="utf-8") as file:
            events = json.load(file)["traceEvents"]
    return sum(event.get("cat") == "kernel" for event in events)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-n", "--steps", type=int, default=4)
    parser.add_argument("--first", action="store_true", help="begin with the profiler")
    arguments = parser.parse_args()

    if not arguments.first:
        model, optimizer = make()
        train(model, optimizer, arguments.steps)
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as recording:
        if arguments.first:
            model, optimizer = make()
        train(model, optimizer, arguments.steps)
    train(model, optimizer, arguments.steps)
    print(f"profiled {count_kernels(recording)} kernels of {arguments.steps} steps")


if __name__ == "__main__":
    main()
