#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Inference of a small network by onnxruntime on the GPU: onnx_step.py [-n STEPS].
Exits with 77 where onnxruntime was built without CUDA."""
import argparse
import sys

import numpy
import onnx
import onnxruntime
from onnx import TensorProto, helper

WIDTH, LAYERS = 256, 4


def make_model():
    weights, nodes, last = [], [], "x"
    generator = numpy.random.default_rng(0)
    for layer in range(LAYERS):
        weight = generator.standard_normal((WIDTH, WIDTH)).astype("float32") / WIDTH ** 0.5
        weights.append(onnx.numpy_helper.from_array(weight, f"w{layer}"))
        nodes.append(helper.make_node("MatMul", [last, f"w{layer}"], [f"m{layer}"]))
        nodes.append(helper.make_node("Tanh", [f"m{layer}"], [f"t{layer}"]))
        last = f"t{layer}"
    graph = helper.make_graph(
        nodes, "network",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [64, WIDTH])],
        [helper.make_tensor_value_info(last, TensorProto.FLOAT, [64, WIDTH])], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def infer(session, x):
    return session.run(None, {"x": x})[0]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-n", type=int, default=20)
    steps = parser.parse_args().n
    if "CUDAExecutionProvider" not in onnxruntime.get_available_providers():
        print("this onnxruntime was built without CUDA")
        sys.exit(77)
    session = onnxruntime.InferenceSession(make_model().SerializeToString(),
                                           providers=["CUDAExecutionProvider"])
    x = numpy.ones((64, WIDTH), dtype="float32")
    for _ in range(steps):
        x = infer(session, x)
    print(f"steps {steps} value {float(x.sum()):.4f}")


if __name__ == "__main__":
    main()
