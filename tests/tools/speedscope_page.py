# SPDX-License-Identifier: GPL-2.0-or-later
"""Open a profile in speedscope, in headless Chromium, and print what it made of it.

usage: speedscope_page.py FOLDER PROFILE [PNG]

FOLDER has speedscope's page: dist/release of its npm package. Prints

    title TEXT                      the page's, with the profile's name
    type NAME UNIT WEIGHT           a profile of the file
    NAME stack FRAME;FRAME WEIGHT   stacks of it, the outermost first, added up
    shown TEXT                      what the page says
    error TEXT                      of the page

and writes a picture to PNG.
"""
import functools
import http.server
import re
import sys
import threading
import urllib.parse

from browser import Browser

# What its importer returns is kept, and goes on to the page as ever.
IMPORT = re.compile(rb"(async function \w+\((\w+),(\w+)\)\{)return\(await (\w+)\)"
                    rb"\.importProfilesFromArrayBuffer\(\2,\3\)\}")
KEEP = (rb"\1const kept=await(await \4).importProfilesFromArrayBuffer(\2,\3);"
        rb"window.imported=kept;return kept}")

READ = """(async () => {
    const isDone = () => document.title.includes(' - speedscope') ||
        document.body.innerText.includes('Something went wrong');
    while (!isDone())
        await new Promise(done => setTimeout(done, 50));
    return (window.imported?.profiles ?? []).map(profile => {
        const stacks = {};
        profile.samples.forEach((leaf, i) => {
            const frames = [];
            for (let node = leaf; node?.parent; node = node.parent)
                frames.unshift(node.frame.name);
            const stack = frames.join(';');
            stacks[stack] = (stacks[stack] || 0) + profile.weights[i];
        });
        return [profile.getName(), profile.getWeightUnit(), profile.getTotalWeight(),
                Object.entries(stacks)];
    });
})()"""


def serve(folder, path):
    class Handler(http.server.SimpleHTTPRequestHandler):
        def do_GET(self):
            name = self.path.partition("?")[0]
            if name != "/perf.gpu.speedscope.json" and not name.startswith("/speedscope-"):
                super().do_GET()
                return
            with open(path if name.endswith(".json") else folder + name, "rb") as file:
                content = file.read()
            if name.endswith(".js"):
                content, nr = IMPORT.subn(KEEP, content)
                assert nr == 1, "speedscope's script has another importer"
            self.send_response(200)
            self.send_header("Content-Type", self.guess_type(name))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *args):
            pass

    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(Handler, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}"


def main():
    origin = serve(sys.argv[1], sys.argv[2])
    profile = urllib.parse.quote(origin + "/perf.gpu.speedscope.json", safe="")
    with Browser("chromium") as browser:
        browser.open(f"{origin}/#profileURL={profile}")
        found = browser.evaluate(READ)
        browser.settle()
        lines = ["title " + browser.evaluate("document.title")]
        shown = browser.evaluate("document.body.innerText")
        if len(sys.argv) > 3:
            browser.screenshot(sys.argv[3])
        complaints = browser.complaints
    for name, unit, weight, stacks in found:
        lines.append(f"type {name} {unit} {weight:.0f}")
        lines += [f"{name} stack {stack} {weight:.0f}" for stack, weight in stacks]
    lines += [f"shown {text}" for text in shown.splitlines() if text.strip()]
    lines += [f"error {text}" for text in complaints]
    print("\n".join(line.replace("\n", " ") for line in lines))


main()
