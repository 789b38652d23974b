#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Two kernels in Triton, a softmax and a sum: triton_step.py [-n STEPS]."""
import argparse

import torch
import triton
import triton.language as tl

ROWS, COLUMNS = 256, 1024


@triton.jit
def softmax_kernel(y, x, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    value = tl.load(x + row * n + columns, mask=columns < n, other=-float("inf"))
    value = tl.exp(value - tl.max(value, axis=0))
    tl.store(y + row * n + columns, value / tl.sum(value, axis=0), mask=columns < n)


@triton.jit
def add_kernel(z, x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(z + at, tl.load(x + at, mask=at < n) + tl.load(y + at, mask=at < n),
             mask=at < n)


def softmax(x):
    y = torch.empty_like(x)
    softmax_kernel[(x.shape[0],)](y, x, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
    return y


def add(x, y):
    z = torch.empty_like(x)
    add_kernel[(triton.cdiv(x.numel(), 1024),)](z, x, y, x.numel(), BLOCK=1024)
    return z


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-n", type=int, default=20)
    steps = parser.parse_args().n
    torch.manual_seed(0)
    x = torch.randn(ROWS, COLUMNS, device="cuda")
    for _ in range(steps):
        x = add(softmax(x), x)
    torch.cuda.synchronize()
    print(f"steps {steps} value {x.sum().item():.4f}")


if __name__ == "__main__":
    main()
