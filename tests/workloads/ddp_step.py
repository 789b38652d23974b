#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A training on several GPUs, to be recorded: torch_step.py's model under
DistributedDataParallel, one process a GPU, started by torchrun:

    python3 -m torch.distributed.run --standalone --nproc-per-node=2 ddp_step.py

NCCL adds up the gradients. Each rank also copies a tensor of known size to the next rank's
GPU, in a function of its own. With --own-gpu-only a rank sees no other GPU than its own,
which CUDA then numbers 0 in all of them, and makes no such copies.

Prints a line for each rank, with tabs:
    rank  N  UUID OF ITS GPU  PEER COPIES  THEIR BYTES  MEDIAN NS OF A STEP
"""
import argparse
import os
import statistics
import time

RANK = int(os.environ["LOCAL_RANK"])
PEER_BYTES = 3 << 20


def copy_to_peer(torch, source, peer):
    return source.to(f"cuda:{peer}", non_blocking=True)


def train(torch, arguments, gpu):
    import torch_step

    torch.manual_seed(RANK)
    model = torch.nn.parallel.DistributedDataParallel(
        torch_step.Model().to(f"cuda:{gpu}"), device_ids=[gpu])
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
    shape = torch_step.BATCH, torch_step.LENGTH + 1
    tokens = torch.randint(torch_step.VOCABULARY, shape, device=f"cuda:{gpu}")
    source = torch.zeros(PEER_BYTES, dtype=torch.uint8, device=f"cuda:{gpu}")
    nr_gpus = torch.cuda.device_count()
    times, nr_copies = [], 0
    for _ in range(arguments.warm_up + arguments.steps):
        begin = time.monotonic_ns()
        torch_step.train_step(model, optimizer, tokens)
        if nr_gpus > 1:
            copy_to_peer(torch, source, (gpu + 1) % nr_gpus)
            nr_copies += 1
        torch.cuda.synchronize()
        times.append(time.monotonic_ns() - begin)
    return nr_copies, int(statistics.median(times[arguments.warm_up:]))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-n", "--steps", type=int, default=10)
    parser.add_argument("-w", "--warm-up", type=int, default=3, help="steps not timed")
    parser.add_argument("--own-gpu-only", action="store_true")
    arguments = parser.parse_args()

    if arguments.own_gpu_only:
        os.environ["CUDA_VISIBLE_DEVICES"] = str(RANK)
    tee = os.environ.get("CUPTI_TEE_OUTPUT")  # cupti_tee.c: a file for each rank
    if tee:
        os.environ["CUPTI_TEE_OUTPUT"] = f"{tee}.{RANK}"

    import torch
    gpu = 0 if arguments.own_gpu_only else RANK
    torch.cuda.set_device(gpu)
    torch.distributed.init_process_group("nccl", device_id=torch.device(f"cuda:{gpu}"))
    nr_copies, step_ns = train(torch, arguments, gpu)
    uuid = torch.cuda.get_device_properties(gpu).uuid
    # In one write: both ranks have the same standard output.
    os.write(1, f"rank\t{RANK}\t{uuid}\t{nr_copies}\t{nr_copies * PEER_BYTES}\t{step_ns}\n"
             .encode())
    torch.distributed.barrier()
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main()
