"""`acptap proxy --upstream` as a process, in front of a little HTTP server."""

import http.server
import json
import re
import signal
import socket
import subprocess
import sys
import threading
from contextlib import contextmanager

WITH_ROOM = """
import os, resource, sys
room, *command = sys.argv[1:]
resource.setrlimit(resource.RLIMIT_FSIZE, (int(room), int(room)))
os.execv(command[0], command)
"""
AS_NOHUP = """
import os, signal, sys
signal.signal(signal.SIGHUP, signal.SIG_IGN)
os.execv(sys.argv[1], sys.argv[1:])
"""
READY = re.compile(r"acptap: listening on (http://(\S+):(\d+)/)")


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        self._answer(b"")

    def do_POST(self):
        self._answer(self.rfile.read(int(self.headers["Content-Length"])))

    def _answer(self, body):
        headers = {name.lower(): value for name, value in self.headers.items()}
        seen = {"path": self.path, "body": body.decode(), "headers": headers}
        data = json.dumps(seen).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


class Server6(http.server.ThreadingHTTPServer):
    address_family = socket.AF_INET6


@contextmanager
def serving(address=("127.0.0.1", 0)):
    """An agent that tells what it was asked."""
    kind = Server6 if ":" in address[0] else http.server.ThreadingHTTPServer
    with kind(address, Handler) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server.server_address
        server.shutdown()
        thread.join()


class Proxy:
    """A running proxy.

    Attributes:
        url: Where it listens.
        cassette: What it writes.
    """

    def __init__(self, folder, *options, room=None, nohup=False):
        self.cassette = folder / "tape.jsonl"
        self.said: list[str] = []
        command = [sys.executable, "-m", "acptap", "proxy", "-w", str(self.cassette), *options]
        if room is not None:
            command = [sys.executable, "-c", WITH_ROOM, str(room), *command]
        if nohup:
            command = [sys.executable, "-c", AS_NOHUP, *command]
        self.process = subprocess.Popen(
            command, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True
        )
        assert self.process.stderr is not None
        self._stderr = self.process.stderr
        for line in self._stderr:
            self.said.append(line.strip())
            if line.startswith("acptap: recording"):
                break
        ready = READY.match(self.said[0])
        if ready is None:
            self.close()
        assert ready, self.said
        self.url, self.port = ready[1], int(ready[3])

    def end(self, number=signal.SIGTERM):
        """End it by a signal; return its exit code."""
        self.process.send_signal(number)
        self.said += [line.strip() for line in self._stderr]
        return self.process.wait(20)

    def close(self):
        """Whatever it does, end it."""
        self.process.kill()
        self.process.wait()
        self._stderr.close()

    def entries(self):
        """What it recorded, the header first."""
        return [json.loads(line) for line in self.cassette.read_text().splitlines()]


@contextmanager
def proxy(folder, *options, room=None, nohup=False):
    """A running proxy; `room` is how many bytes it can write to a file."""
    running = Proxy(folder, *options, room=room, nohup=nohup)
    try:
        yield running
    finally:
        running.close()
