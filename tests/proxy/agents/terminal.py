"""Runs a command in the foreground of a terminal, as a shell does: terminal.py TTY COMMAND…"""

import os
import sys

os.setsid()
tty = os.open(sys.argv[1], os.O_RDWR)  # becomes the controlling terminal
for fd in range(3):
    if os.environ.get("TERMINAL") == "all":
        os.dup2(tty, fd)
os.close(tty)
os.execv(sys.argv[2], sys.argv[2:])
