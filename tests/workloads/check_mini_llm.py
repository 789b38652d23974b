#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares the tokens that mini_llm prints with those of the same model in PyTorch.

usage: mini_llm -n 16 | check_mini_llm.py      (needs PyTorch and a GPU)
"""
import re
import sys

import torch

LAYERS, HIDDEN, HEADS, KV_HEADS, HEAD_SIZE, FFN, VOCABULARY = 28, 1024, 16, 8, 128, 3072, 151936
FIRST_TOKEN = 9707
MASK = 0xFFFFFFFF
next_seed = 0


def weights(*shape, center=0.0, scale):
    """The same hash as mini_llm.cu's fill_random()."""
    global next_seed
    i = torch.arange(torch.Size(shape).numel(), device="cuda")
    h = (i + next_seed * 0x9E3779B9) & MASK
    next_seed += 1
    # (h * factor) & MASK in halves: the whole product doesn't fit into 63 bits
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
        h = h ^ h >> shift
        h = ((h & 0xFFFF) * factor + (((h >> 16) * factor & 0xFFFF) << 16)) & MASK
    h = h ^ h >> 16
    unit = (h >> 8).float() * 2.0 ** -23 - 1
    return (center + scale * unit).bfloat16().float().view(shape)


def norm_weights(n):
    return weights(n, center=1.0, scale=0.1)


def matrix(rows, columns):
    return weights(rows, columns, scale=(3.0 / columns) ** 0.5)


def rmsnorm(x, weight):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * weight


def rope(x, position):
    i = torch.arange(HEAD_SIZE // 2, device="cuda")
    angle = position * 1000000.0 ** (-2.0 * i / HEAD_SIZE)
    a, b = x.chunk(2, dim=-1)
    return torch.cat((a * angle.cos() - b * angle.sin(), b * angle.cos() + a * angle.sin()), -1)


class Layer:
    def __init__(self):  # in the order of load_model()
        self.attention_norm = norm_weights(HIDDEN)
        self.query = matrix(HEADS * HEAD_SIZE, HIDDEN)
        self.key = matrix(KV_HEADS * HEAD_SIZE, HIDDEN)
        self.value = matrix(KV_HEADS * HEAD_SIZE, HIDDEN)
        self.query_norm = weights(HEAD_SIZE, center=6.0, scale=1.0)
        self.key_norm = norm_weights(HEAD_SIZE)
        self.output = matrix(HIDDEN, HEADS * HEAD_SIZE)
        self.feed_forward_norm = norm_weights(HIDDEN)
        self.gate = matrix(FFN, HIDDEN)
        self.up = matrix(FFN, HIDDEN)
        self.down = matrix(HIDDEN, FFN)
        self.keys, self.values = [], []

    def __call__(self, x, position):
        normed = rmsnorm(x, self.attention_norm)
        query = rope(rmsnorm((self.query @ normed).view(HEADS, HEAD_SIZE), self.query_norm),
                     position)
        self.keys.append(rope(rmsnorm((self.key @ normed).view(KV_HEADS, HEAD_SIZE),
                                      self.key_norm), position))
        self.values.append((self.value @ normed).view(KV_HEADS, HEAD_SIZE))
        keys = torch.stack(self.keys, 1).repeat_interleave(HEADS // KV_HEADS, 0)
        values = torch.stack(self.values, 1).repeat_interleave(HEADS // KV_HEADS, 0)
        shares = (keys @ query[:, :, None] / HEAD_SIZE ** 0.5).softmax(1)
        x = x + self.output @ (shares * values).sum(1).flatten()
        normed = rmsnorm(x, self.feed_forward_norm)
        return x + self.down @ (torch.nn.functional.silu(self.gate @ normed) * (self.up @ normed))


def main():
    line = re.search(r"^tokens:((?: \d+)+)", sys.stdin.read(), re.M)
    if not line:
        raise SystemExit("no tokens in the input")
    theirs = [int(token) for token in line.group(1).split()]
    embedding = weights(VOCABULARY, HIDDEN, scale=0.2)
    layers = [Layer() for _ in range(LAYERS)]
    final_norm = norm_weights(HIDDEN)
    ours, token = [], FIRST_TOKEN
    for position in range(len(theirs)):
        x = embedding[token]
        for layer in layers:
            x = layer(x, position)
        token = int((embedding @ rmsnorm(x, final_norm)).argmax())
        ours.append(token)
    print(f"mini_llm {theirs}\nPyTorch  {ours}")
    return theirs != ours


if __name__ == "__main__":
    sys.exit(main())
