"""`acptap rules`."""

import click

from acptap.notes import Rule
from acptap.rules import RULES
from acptap.wire.jsontext import dump


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Write one JSON array.")
def rules(*, as_json: bool) -> None:
    """Print the rules that traffic is held against.

    A violation breaks a MUST of the protocol, provably. A warning breaks a SHOULD, or is something
    that peers stumble over. A note is legal, and worth knowing. `fails` names the reference clients
    that give up a run there, or leave the event out.
    """
    if as_json:
        click.echo(dump([_members(rule, row) for rule, row in RULES.items()]))
        return
    width = max(map(len, RULES))
    for rule, row in RULES.items():
        click.echo(
            f"{rule:{width}}  {row.severity:9}  {_versions(row):3}  {row.text} [{row.source}]"
            f"{_clients(row)}"
        )


def _versions(row: Rule) -> str:
    return ",".join(f"v{version}" for version in sorted(row.versions)) or "all"


def _clients(row: Rule) -> str:
    return f" fails: {', '.join(row.clients)}" if row.clients else ""


def _members(rule: str, row: Rule) -> dict[str, object]:
    return {
        "rule": rule,
        "severity": row.severity.value,
        "versions": sorted(row.versions),
        "clients": list(row.clients),
        "text": row.text,
        "source": row.source,
    }
