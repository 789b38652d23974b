#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A PyTorch training (torch_step.py's model) with copies of each direction and memsets
between its steps, that does the same in each run: to be recorded, and to be counted by
others (event_counts.py).

With --trace FILE, torch.profiler records it, from before CUDA is initialized to its end,
and writes a Chrome trace. CUPTI has room for one profiler, so that is a run of its own.
"""
import argparse
import contextlib

import torch

import torch_step


def train(nr_steps):
    torch.manual_seed(0)
    model = torch_step.Model().cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
    shape = torch_step.BATCH, torch_step.LENGTH + 1
    pageable = torch.randint(torch_step.VOCABULARY, shape)
    pinned = pageable.pin_memory()
    kept = torch.empty(shape, dtype=pinned.dtype, device="cuda")
    losses = []
    for step in range(nr_steps):
        tokens = (pinned if step % 2 else pageable).to("cuda", non_blocking=True)
        kept.copy_(tokens)  # device to device
        losses.append(torch_step.train_step(model, optimizer, kept))
        kept.zero_()
        pinned.copy_(tokens, non_blocking=True)
        torch.cuda.current_stream().synchronize()
    torch.cuda.synchronize()
    return losses[-1].item()


def profiler(trace):
    if not trace:
        return contextlib.nullcontext()
    from torch.profiler import ProfilerActivity, profile
    return profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-n", "--steps", type=int, default=4)
    parser.add_argument("--trace", help="where torch.profiler's trace goes")
    arguments = parser.parse_args()

    with profiler(arguments.trace) as profile:
        loss = train(arguments.steps)
    if profile:
        profile.export_chrome_trace(arguments.trace)
    print(f"steps {arguments.steps} loss {loss:.4f}")


if __name__ == "__main__":
    main()
