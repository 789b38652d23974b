# SPDX-License-Identifier: GPL-2.0-or-later
"""perf script: what the GPU did, as folded stacks or as a page with a flame graph.

    perf script -i perf.gpu.data -s gpu-flamegraph.py -- [options]
    perf script report gpu-flamegraph [-i perf.gpu.data] [options]

reads what `perf-gpu inject` has written. A stack weighs the sum of its samples'
periods: nanoseconds, or bytes of gpu-alloc and gpu-fault.
"""

import argparse
import html
import json
import os
import sys

PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>@TITLE@</title><style>
:root { color-scheme: light dark }
body { font: 12px sans-serif; margin: 8px }
#graph { position: relative }
#graph div { position: absolute; height: 17px; line-height: 17px; overflow: hidden;
  white-space: nowrap; box-sizing: border-box; border-right: 1px solid Canvas;
  padding-left: 3px; cursor: pointer; color: #000 }
</style></head><body><h1 style="font-size: 16px">@TITLE@</h1>
<p>A click shows a frame and what is in it; one on a frame below it goes back.</p>
<div id="graph"></div><script>
"use strict";
const ROOT = @TREE@; // [name, weight, [children]]
const UNIT = "@UNIT@";
const graph = document.getElementById("graph");
function hue(name) {
  return name.startsWith("[GPU_") ? 120 : name.startsWith("py::") ? 210
    : /^cu(da)?[A-Z]/.test(name) ? 275 : 30;
}
function add(path, x, width, row, total) {
  const [name, weight] = path[path.length - 1];
  const div = document.createElement("div");
  div.textContent = name;
  div.title = `${name}: ${weight} ${UNIT}, ${(100 * weight / total).toFixed(2)} %`;
  div.dataset.weight = weight;
  div.style.cssText = `left:${x}%;width:${width}%;top:${row * 18}px;`
    + `background:hsl(${hue(name)} 60% 70%)`;
  div.onclick = () => show(path);
  graph.append(div);
}
function show(path) {
  graph.replaceChildren();
  let rows = 0;
  for (let i = 0; i < path.length - 1; i++)
    add(path.slice(0, i + 1), 0, 100, i, ROOT[1]);
  const todo = [[path, 0, 100]];
  while (todo.length) {
    const [at, x, width] = todo.pop();
    const [, weight, children] = at[at.length - 1];
    add(at, x, width, at.length - 1, ROOT[1]);
    rows = Math.max(rows, at.length);
    let left = x;
    for (const child of children) {
      const share = width * child[1] / weight;
      if (share > 0.05) // narrower than a pixel
        todo.push([at.concat([child]), left, share]);
      left += share;
    }
  }
  graph.style.height = `${rows * 18}px`;
}
show([ROOT]);
</script></body></html>
"""


def parse_arguments():
    parser = argparse.ArgumentParser(
        prog="gpu-flamegraph.py",
        description="Flame graph of what perf-gpu inject has written, by period.")
    parser.add_argument("-f", "--format", choices=["html", "folded"], default="html",
                        help="a page (the default), or a line for each stack, for "
                        "flamegraph.pl and others")
    parser.add_argument("-o", "--output", metavar="FILE",
                        help="write to FILE (gpu-flamegraph.html; folded text goes to "
                        "standard output); - is standard output")
    parser.add_argument("-e", "--event", default="gpu-kernel",
                        help="the event to show, of those in the file (gpu-kernel)")
    options = parser.parse_args()
    if options.output is None:
        options.output = "gpu-flamegraph.html" if options.format == "html" else "-"
    return options


OPTIONS = parse_arguments()
STACKS = {}  # tuple of names from the root → sum of periods
OTHERS = set()  # events that were not asked for


def frame_name(frame):
    name = frame.get("sym", {}).get("name")
    if not name:
        dso = os.path.basename(frame.get("dso", "")) or "unknown"
        name = dso if dso.startswith("[") else "[" + dso + "]"
    # What ends a frame or a line of folded text
    return name.replace(";", ":").replace("\n", " ")


def process_event(event):
    """Called by perf for each sample."""
    name = event["ev_name"].split(":")[0]  # without modifiers
    if name != OPTIONS.event:
        OTHERS.add(name)
        return
    stack = [frame_name(frame) for frame in event.get("callchain") or []]
    if not stack:
        stack = [event.get("symbol", "[unknown]")]
    stack.append(event["comm"].replace(";", ":"))
    key = tuple(reversed(stack))
    STACKS[key] = STACKS.get(key, 0) + event["sample"]["period"]


def folded():
    return "".join(f"{';'.join(stack)} {weight}\n"
                   for stack, weight in sorted(STACKS.items()))


def tree():
    """[name, weight, children] of all stacks, children by name."""
    root = ["all", 0, {}]
    for stack, weight in STACKS.items():
        node = root
        node[1] += weight
        for name in stack:
            node = node[2].setdefault(name, [name, 0, {}])
            node[1] += weight
    # The deepest first, so that no stack is too deep for Python
    todo, order = [root], []
    while todo:
        node = todo.pop()
        order.append(node)
        todo.extend(node[2].values())
    for node in reversed(order):
        node[2] = [node[2][name] for name in sorted(node[2])]
    return root


def page():
    unit = "bytes" if OPTIONS.event in ("gpu-alloc", "gpu-fault") else "ns"
    # No text of a name may end the script.
    data = json.dumps(tree(), separators=(",", ":")).replace("<", "\\u003c")
    title = html.escape(f"{OPTIONS.event}, in {unit}")
    return (PAGE.replace("@UNIT@", unit).replace("@TITLE@", title)
            .replace("@TREE@", data))


def fail(why):
    sys.stdout.flush()
    sys.stderr.write(f"gpu-flamegraph.py: {why}\n")
    sys.stderr.flush()
    os._exit(1)  # perf takes an exception, SystemExit too, for a crash of the script


def trace_end():
    """Called by perf behind the last sample."""
    if not STACKS:
        there = f"it has {', '.join(sorted(OTHERS))}" if OTHERS else "it has no samples"
        fail(f"no sample of {OPTIONS.event} in the file ({there}): make one with "
             "'perf-gpu inject', and read it with 'perf script -i perf.gpu.data'")
    text = page() if OPTIONS.format == "html" else folded()
    try:
        if OPTIONS.output == "-":
            sys.stdout.write(text)
            sys.stdout.flush()
            return
        partial = f"{OPTIONS.output}.{os.getpid()}"
        with open(partial, "w", encoding="utf-8", errors="replace") as file:
            file.write(text)
        os.replace(partial, OPTIONS.output)
    except OSError as error:
        fail(f"{OPTIONS.output} could not be written: {error.strerror}")
    sys.stderr.write(f"gpu-flamegraph.py: wrote {OPTIONS.output}\n")
