# SPDX-License-Identifier: GPL-2.0-or-later
"""Open a trace in catapult's trace viewer, which is what chrome://tracing shows, in headless
Chromium, and print what the viewer made of it.

usage: trace_viewer.py FOLDER TRACE [PNG]

FOLDER has trace_viewer_full.html and webcomponents.min.js: Go's sources do, for `go tool
trace`. Prints

    warning TEXT                           what the importer has to say
    process NAME
    track NAME: NR slices, NR us           of a process's thread, all of its slices
    arrows NR                              from a slice to a slice
    stack NAME;NAME... NAME                of a slice, the outermost first, and its name
    drawn TEXT                             on the page
    error TEXT                             of the page

and writes a picture to PNG.
"""
import functools
import http.server
import sys
import threading

from browser import Browser

PAGE = b"""<!DOCTYPE html><html><head><meta charset="utf-8">
<script src="/webcomponents.min.js"></script>
<link rel="import" href="/trace_viewer_full.html"></head>
<body style="margin:0"></body></html>"""

# The elements are those of Go's own page.
VIEW = """(async () => {
    while (typeof tr !== 'object' || !tr.importer || !window.HTMLImports.ready)
        await new Promise(done => setTimeout(done, 50));
    const trace = await (await fetch('/trace.json')).text();
    const model = new tr.Model();
    await new tr.importer.Import(model).importTraces([trace]);
    const view = document.createElement('tr-ui-timeline-view');
    const container = document.createElement('track-view-container');
    container.id = 'track_view_container';
    view.track_view_container = container;
    Polymer.dom(view).appendChild(container);
    view.style.cssText = 'position:absolute;top:0;bottom:0;left:0;right:0';
    view.globalMode = true;
    Polymer.dom(document.body).appendChild(view);
    view.model = model;
    const stacks = {};
    const tracks = [];
    for (const thread of model.getAllThreads()) {
        const slices = thread.sliceGroup.slices;
        tracks.push([thread.userFriendlyName, slices.length,
                     slices.reduce((sum, slice) => sum + slice.duration, 0) * 1000]);
        for (const slice of slices) {
            let text = slice.title;
            if (slice.startStackFrame)
                text = slice.startStackFrame.getUserFriendlyStackTrace().reverse()
                    .join(';') + ' ' + text;
            stacks[text] = (stacks[text] || 0) + 1;
        }
    }
    return {
        warnings: model.importWarnings.map(warning => warning.message),
        processes: model.getAllProcesses().map(process => process.userFriendlyName),
        tracks,
        arrows: model.flowEvents.filter(flow => flow.startSlice && flow.endSlice).length,
        stacks: Object.keys(stacks),
    };
})()"""

# All that has text, by the browser's own tree: the page's is another, of a polyfill.
DRAWN = """(() => {
    const texts = document.evaluate('//body//text()', document, null,
                                    XPathResult.ORDERED_NODE_SNAPSHOT_TYPE, null);
    const found = [];
    for (let i = 0; i < texts.snapshotLength; i++)
        found.push(texts.snapshotItem(i).textContent.trim());
    return found.filter(text => text);
})()"""


def serve(folder, trace):
    class Handler(http.server.SimpleHTTPRequestHandler):
        def do_GET(self):
            if self.path not in ("/", "/trace.json", "/favicon.ico"):
                super().do_GET()
                return
            content = b""
            if self.path == "/":
                content = PAGE
            elif self.path == "/trace.json":
                with open(trace, "rb") as file:
                    content = file.read()
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *args):
            pass

    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(Handler, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_port


def main():
    port = serve(sys.argv[1], sys.argv[2])
    with Browser("chromium") as browser:
        browser.open(f"http://127.0.0.1:{port}/")
        found = browser.evaluate(VIEW)
        browser.settle()
        drawn = browser.evaluate(DRAWN)
        if len(sys.argv) > 3:
            browser.screenshot(sys.argv[3])
        # That CSS has been renamed since is no matter of the trace.
        errors = [text for text in browser.complaints if "slider-vertical" not in text]
    lines = [f"warning {text}" for text in found["warnings"]]
    lines += [f"process {name}" for name in found["processes"]]
    lines += [f"track {name}: {nr} slices, {us:.3f} us" for name, nr, us in found["tracks"]]
    lines += [f"arrows {found['arrows']}"]
    lines += [f"stack {text}" for text in found["stacks"]]
    lines += [f"drawn {text}" for text in drawn]
    lines += [f"error {text}" for text in errors]
    print("\n".join(line.replace("\n", " ") for line in lines))


main()
