#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A PyTorch training step, to be recorded: a small transformer, forward, backward and
a fused optimizer, for a fixed number of steps.

With --graph the steps are captured once into a CUDA graph and replayed; with --compile
the model is compiled (by Triton); with --loader the tokens come from worker processes.
Kernels can't be counted here while perf-gpu is subscribed to CUPTI, so only the steps are
printed.
"""
import argparse
import itertools

import torch
from torch import nn

VOCABULARY, WIDTH, HEADS, LAYERS, LENGTH, BATCH = 1000, 256, 4, 4, 64, 8


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention_norm = nn.LayerNorm(WIDTH)
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.output = nn.Linear(WIDTH, WIDTH)
        self.feed_forward = nn.Sequential(
            nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(),
            nn.Linear(4 * WIDTH, WIDTH))

    def attention(self, x):
        q, k, v = (t.unflatten(-1, (HEADS, -1)).transpose(1, 2)
                   for t in self.qkv(self.attention_norm(x)).chunk(3, dim=-1))
        mixed = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.output(mixed.transpose(1, 2).flatten(2))

    def forward(self, x):
        x = x + self.attention(x)
        return x + self.feed_forward(x)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, WIDTH)
        self.blocks = nn.Sequential(*(Block() for _ in range(LAYERS)))
        self.head = nn.Linear(WIDTH, VOCABULARY)

    def forward(self, tokens):
        return self.head(self.blocks(self.embedding(tokens)))


def train_step(model, optimizer, tokens):
    optimizer.zero_grad(set_to_none=False)
    logits = model(tokens[:, :-1])
    loss = nn.functional.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
    loss.backward()
    optimizer.step()
    return loss


class Tokens(torch.utils.data.IterableDataset):
    def __iter__(self):
        generator = torch.Generator().manual_seed(0)
        while True:
            yield torch.randint(VOCABULARY, (LENGTH + 1,), generator=generator)


def load_tokens():
    """Batches, made by worker processes that are forks of this one."""
    loader = torch.utils.data.DataLoader(Tokens(), batch_size=BATCH, num_workers=2,
                                         pin_memory=True)
    for tokens in loader:
        yield tokens.cuda(non_blocking=True)


def capture(step):
    """The step as a CUDA graph, warmed up on a stream of its own as PyTorch asks."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        loss = step()
    return graph, loss


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-n", "--steps", type=int, default=10)
    parser.add_argument("--graph", action="store_true")
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--loader", action="store_true")
    arguments = parser.parse_args()

    torch.manual_seed(0)
    model = Model().cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True,
                                  capturable=arguments.graph)
    tokens = torch.randint(VOCABULARY, (BATCH, LENGTH + 1), device="cuda")
    batches = load_tokens() if arguments.loader else itertools.repeat(tokens)
    if arguments.compile:
        model.compile()

    if arguments.graph:
        graph, loss = capture(lambda: train_step(model, optimizer, tokens))
        for _ in range(arguments.steps):
            graph.replay()
    else:
        for _ in range(arguments.steps):
            loss = train_step(model, optimizer, next(batches))
    torch.cuda.synchronize()
    print(f"steps {arguments.steps} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
