#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Power iteration in CuPy, with a kernel of its own: cupy_step.py [-n STEPS]."""
import argparse

import cupy

scale = cupy.RawKernel(
    r"""
extern "C" __global__ void scale(float *x, float by, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		x[i] *= by;
}
""",
    "scale",
)


def normalize(x):
    by = 1 / float(cupy.linalg.norm(x))
    scale(((x.size + 255) // 256,), (256,), (x, cupy.float32(by), cupy.int32(x.size)))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-n", type=int, default=5)
    steps = parser.parse_args().n
    a = cupy.random.rand(512, 512, dtype=cupy.float32)
    x = cupy.ones(512, dtype=cupy.float32)
    for _ in range(steps):
        x = a @ x
        normalize(x)
    print(f"steps {steps} value {float(x @ (a @ x)):.4f}")


if __name__ == "__main__":
    main()
