#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A few steps of gradient descent in JAX, compiled by XLA: jax_step.py [-n STEPS]."""
import argparse

import jax
import jax.numpy as jnp


def loss(weights, x):
    for weight in weights:
        x = jax.nn.gelu(x @ weight)
    return jnp.mean(x * x)


@jax.jit
def train_step(weights, x):
    value, gradient = jax.value_and_grad(loss)(weights, x)
    return value, [w - 0.01 * g for w, g in zip(weights, gradient)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-n", type=int, default=5)
    steps = parser.parse_args().n
    keys = jax.random.split(jax.random.PRNGKey(1), 5)
    weights = [jax.random.normal(key, (256, 256)) / 16 for key in keys[:4]]
    x = jax.random.normal(keys[4], (64, 256))
    for _ in range(steps):
        value, weights = train_step(weights, x)
    print(f"steps {steps} loss {value.block_until_ready():.4f}")


if __name__ == "__main__":
    main()
