#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""flamegraph_many.py PAGE OUTPUT N: a page like PAGE, with N distinct stacks in the place of
its own: 40 frames each, of which the last twelve are nobody else's. Prints the sum of all."""
import json
import random
import sys

DEPTH, OWN_FROM, NR_FUNCTIONS, NR_KERNELS = 40, 28, 500, 200


class Tree:
    def __init__(self):
        self.children = {}
        self.nodes = [0, -1]  # the process

    def child(self, parent, name, which=0):
        key = parent, name, which
        if key not in self.children:
            self.children[key] = len(self.nodes) // 2
            self.nodes += [name, parent]
        return self.children[key]


def make_data(nr):
    random.seed(1)
    tree, weights = Tree(), []
    for i in range(nr):
        node = 0
        for depth in range(1, DEPTH):
            if depth < OWN_FROM:
                node = tree.child(node, 1 + (i >> max(0, 17 - depth)) * 7 % NR_FUNCTIONS)
            else:
                node = tree.child(node, 1 + i % NR_FUNCTIONS, i)
        leaf = tree.child(node, 1 + NR_FUNCTIONS + i % NR_KERNELS)
        weights += [leaf, 0, 0, 0, 1 + i % 7, random.randrange(1000, 100000)]
    names = [["app", 5]]
    names += [[f"function_{i}", 0] for i in range(NR_FUNCTIONS)]
    names += [[f"[GPU_Kernel]k{i}", 3] for i in range(NR_KERNELS)]
    return {"differential": False, "devices": [], "events": [{"id": 0, "name": "gpu-kernel", "unit": "ns"}],
            "names": names, "nodes": tree.nodes, "weights": weights}


def main():
    page = open(sys.argv[1]).read()
    begin = page.index('id="data">') + len('id="data">')
    end = page.index("</script>", begin)
    data = make_data(int(sys.argv[3]))
    with open(sys.argv[2], "w") as output:
        output.write(page[:begin] + json.dumps(data, separators=(",", ":")) + page[end:])
    print(sum(data["weights"][5::6]))


main()
