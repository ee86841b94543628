"""Runs nginx, as Debian packages it, in front of something on the loopback interface."""

from __future__ import annotations

import os
import shutil
import socket
import ssl
import subprocess
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest
import trustme

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TEMPORARY = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")

# Beyond what any nginx in front of a WebSocket has: it compresses, and it hands out a cookie
# that must come back with everything that belongs to an ACP connection.
CONFIG = """
daemon off;
worker_processes 1;
pid {folder}/nginx.pid;
error_log stderr;
events {{ worker_connections 256; }}
http {{
    access_log off;
    {temporary}
    map $http_upgrade $connection_upgrade {{ default upgrade; '' ''; }}
    map "$http_acp_connection_id $cookie_route" $is_lost {{ default 0; "~^[^ ]+ $" 1; }}
    upstream behind {{ server {behind}; keepalive 8; }}
    server {{
        listen {address}{tls};
        gzip on;
        gzip_min_length 1;
        gzip_proxied any;
        gzip_types application/json;
        location / {{
            if ($is_lost) {{ return 403; }}
            add_header Set-Cookie "route=one; Path=/; HttpOnly" always;
            proxy_pass http://behind;
            proxy_http_version 1.1;
            proxy_set_header Host $http_host;
            proxy_set_header Upgrade $http_upgrade;
            proxy_set_header Connection $connection_upgrade;
            proxy_buffering {buffering};
            proxy_read_timeout 120s;
        }}
    }}
}}
"""
TLS = """ ssl;
        ssl_certificate {folder}/server.pem;
        ssl_certificate_key {folder}/server.pem"""


@dataclass(frozen=True)
class Nginx:
    """A running nginx.

    Attributes:
        authority: Its host and port.
        ca: The file of the authority that vouches for it; none: it speaks plain HTTP.
    """

    authority: str
    ca: Path | None

    def url(self, transport: str) -> str:
        """Return its URL for `http` or `ws`."""
        return f"{transport}{'s' if self.ca else ''}://{self.authority}"


def nginx_command() -> str:
    """Return where nginx is, or skip the test.

    Under CI=true too: no Python or npm package brings it, so nothing that installs this
    project's dependencies can.
    """
    found = shutil.which("nginx", path=f"{os.environ.get('PATH', os.defpath)}:/usr/sbin")
    return found if found is not None else pytest.skip("nginx is not on PATH")


@contextmanager
def nginx(
    folder: Path, behind: str, *, tls: bool = False, buffering: bool = False
) -> Iterator[Nginx]:
    """Run nginx in front of host and port `behind`.

    It inherits its socket, as it does from the nginx it replaces in an upgrade: so the port can
    be any free one, and connections wait in the socket until it is ready.
    """
    command = nginx_command()
    folder.mkdir()
    ca = certificate(folder) if tls else None
    with socket.create_server(("127.0.0.1", 0)) as listening:
        authority = f"127.0.0.1:{listening.getsockname()[1]}"
        config = folder / "nginx.conf"
        config.write_text(
            CONFIG.format(
                folder=folder,
                temporary=" ".join(f"{name}_temp_path {folder}/{name};" for name in TEMPORARY),
                behind=behind,
                address=authority,
                tls=TLS.format(folder=folder) if tls else "",
                buffering="on" if buffering else "off",
            )
        )
        process = subprocess.Popen(
            [command, "-c", str(config), "-p", str(folder)],
            stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            pass_fds=[listening.fileno()],
            env=os.environ | {"NGINX": f"{listening.fileno()};"},
        )
    with process:
        try:
            yield Nginx(authority, ca)
        finally:
            process.terminate()
            try:
                process.wait(timeout=5)
            except subprocess.TimeoutExpired:
                process.kill()


def certificate(folder: Path) -> Path:
    """Write a certificate for the loopback address, and return the file of its authority."""
    authority = trustme.CA()
    authority.issue_cert("127.0.0.1").private_key_and_cert_chain_pem.write_to_path(
        folder / "server.pem"
    )
    ca = folder / "ca.pem"
    authority.cert_pem.write_to_path(ca)
    ssl.create_default_context(cafile=str(ca))  # what is wrong with it is told here
    return ca
