"""Exits with 7 and leaves a dead child in its group, whose parent lives elsewhere and waits."""

import os

TETHER = int(os.environ["TETHER"])

reader, writer = os.pipe()
if os.fork():
    os.read(reader, 1)
    os._exit(7)

dead = os.fork()
if not dead:
    os._exit(0)
os.setsid()
for fd in range(3):
    os.close(fd)
os.waitid(os.P_PID, dead, os.WEXITED | os.WNOWAIT)
os.write(writer, b"!")
os.read(TETHER, 1)
