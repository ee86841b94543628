"""`python -m tests.bench [ROW…] [--json FILE]`: measure the rows of the budget, or some of them.

Every figure is a ratio to a plain tool doing the same work in the same run, or a size; each row
proves first that both did the same work (bytes equal). Nothing here is part of the test suite.
"""

import argparse
import os
import platform
import sys
from pathlib import Path

import orjson
from rich.console import Console
from rich.table import Table

from tests.bench import delays, network, replay, stdio
from tests.bench.row import Row

ROWS = {**stdio.ROWS, **network.ROWS, **delays.ROWS, **replay.ROWS}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench")
    parser.add_argument("rows", nargs="*", metavar="ROW", help=", ".join(ROWS))
    parser.add_argument("--json", type=Path, help="write the raw figures here too")
    chosen = parser.parse_args()
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed acptap is compiled
    if unknown := set(chosen.rows) - set(ROWS):
        parser.error(f"no such row: {', '.join(sorted(unknown))}; there are {', '.join(ROWS)}")
    rows = [row for name in chosen.rows or ROWS for row in ROWS[name]()]
    Console().print(_table(rows))
    if chosen.json is not None:
        machine = {"python": platform.python_version(), "system": platform.platform(),
                   "cores": os.cpu_count()}  # fmt: skip
        facts = {"machine": machine, "rows": [row.as_json() for row in rows]}
        chosen.json.write_bytes(orjson.dumps(facts, option=orjson.OPT_INDENT_2) + b"\n")
    return 0 if all(row.met for row in rows) else 1


def _table(rows: list[Row]) -> Table:
    table = Table("what", "measured", "budget", "met", title="acptap, side by side")
    for row in rows:
        table.add_row(row.what, row.said, row.limit, "yes" if row.met else "NO")
    return table


if __name__ == "__main__":
    sys.exit(main())
