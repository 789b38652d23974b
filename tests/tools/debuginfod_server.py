#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""debuginfod_server.py FOLDER PORT_FILE LOG: serves FOLDER/BUILDID/executable and debuginfo

as a debuginfod server does. The port that it has is written to PORT_FILE, and each request's
"BUILDID KIND" to LOG. What is asked for below the path /hang is never answered.
"""
import http.server
import os
import re
import sys
import threading

folder, port_file, log_path = sys.argv[1:]


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        found = re.fullmatch(r"(/hang)?/buildid/([0-9a-f]+)/(executable|debuginfo)", self.path)
        if not found:
            self.send_error(400)
            return
        with open(log_path, "a") as log:
            log.write(f"{found[2]} {found[3]}\n")
        if found[1]:
            threading.Event().wait()
        try:
            with open(os.path.join(folder, found[2], found[3]), "rb") as file:
                data = file.read()
        except FileNotFoundError:
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Type", "application/octet-stream")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *arguments):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
with open(port_file + ".new", "w") as file:
    file.write(f"{server.server_address[1]}\n")
os.rename(port_file + ".new", port_file)
server.serve_forever()
