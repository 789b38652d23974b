#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Trains on batches of a DataLoader's two worker processes, and with --kill kills these
by SIGKILL in the middle; then trains on without them. It runs the same kernels either way.
"""
import argparse
import os
import signal

import torch

import torch_step

STEPS = 10


def kill_workers(batches):
    """Also waits until PyTorch has noticed, which it tells by an exception at any time."""
    try:
        for worker in batches._workers:
            os.kill(worker.pid, signal.SIGKILL)
        for _ in range(1000):
            next(batches)
    except RuntimeError as error:
        print("killed:", str(error).split(" (", 1)[0])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kill", action="store_true")
    arguments = parser.parse_args()

    torch.manual_seed(0)
    model = torch_step.Model().cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
    loader = torch.utils.data.DataLoader(torch_step.Tokens(), num_workers=2,
                                         batch_size=torch_step.BATCH, pin_memory=True)
    batches = iter(loader)
    for _ in range(STEPS):
        tokens = next(batches).cuda(non_blocking=True)
        loss = torch_step.train_step(model, optimizer, tokens)
    if arguments.kill:
        kill_workers(batches)
    for _ in range(STEPS):
        loss = torch_step.train_step(model, optimizer, tokens)
    torch.cuda.synchronize()
    print(f"steps {2 * STEPS} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
