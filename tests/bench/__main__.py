"""`python -m tests.bench [ROW…] [--json FILE]`: measure the rows of the budget, or some of them.

Every figure is a ratio to a plain tool doing the same work in the same run, or a size; each row
proves first that both did the same work (bytes equal). Nothing here is part of the test suite.
"""

import argparse
import os
import platform
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import orjson
from rich.console import Console
from rich.table import Table

from tests.bench import delays, network, replay, stdio, strain
from tests.bench.row import Row

_STALL = 10.0


def rows_of(stall: float) -> dict[str, Callable[[], Iterator[Row]]]:
    """Return all rows there are."""
    network_rows = {**network.ROWS, **delays.ROWS, **strain.rows(stall)}
    return {**stdio.ROWS, **network_rows, **replay.ROWS}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench")
    parser.add_argument("rows", nargs="*", metavar="ROW", help=", ".join(rows_of(_STALL)))
    parser.add_argument(
        "--stall",
        type=float,
        default=_STALL,
        metavar="SECONDS",
        help="how long clients do not read, where that is measured",
    )
    parser.add_argument("--json", type=Path, help="write the raw figures here too")
    chosen = parser.parse_args()
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed acptap is compiled
    known = rows_of(chosen.stall)
    if unknown := set(chosen.rows) - set(known):
        parser.error(f"no such row: {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    rows = [row for name in chosen.rows or known for row in known[name]()]
    Console().print(_table(rows))
    if chosen.json is not None:
        machine = {"python": platform.python_version(), "system": platform.platform(),
                   "cores": os.cpu_count(), "load": os.getloadavg()}  # fmt: skip
        facts = {"machine": machine, "rows": [row.as_json() for row in rows]}
        chosen.json.write_bytes(orjson.dumps(facts, option=orjson.OPT_INDENT_2) + b"\n")
    return 0 if all(row.met for row in rows) else 1


def _table(rows: list[Row]) -> Table:
    load = f"load of the last minute {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores"
    table = Table("what", "measured", "budget", "met", title=f"acptap, side by side ({load})")
    for row in rows:
        table.add_row(row.what, row.said, row.limit, "yes" if row.met else "NO")
    return table


if __name__ == "__main__":
    sys.exit(main())
