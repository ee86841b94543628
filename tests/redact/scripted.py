"""An agent that follows a script: a JSON file with steps of two, who says and what.

It leaves with 3 when it hears anything but what the script says.
"""

import json
import sys

with open(sys.argv[1], encoding="utf-8") as file:  # noqa: PTH123 starts without pathlib
    steps = json.load(file)

for who, text in steps:
    if who == "client":
        if sys.stdin.buffer.readline() != text.encode():
            sys.exit(3)
    else:
        stream = sys.stderr if who == "stderr" else sys.stdout
        stream.buffer.write(text.encode())
        stream.flush()
sys.exit(0 if not sys.stdin.buffer.read() else 3)
