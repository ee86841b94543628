"""`acptap rules`."""

import click

from acptap.acp.rules import RULES
from acptap.notes import Rule
from acptap.wire.jsontext import dump


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Write one JSON array.")
def rules(*, as_json: bool) -> None:
    """Print the rules that traffic is held against.

    A violation breaks a MUST of the protocol, provably. A warning breaks a SHOULD, or is something
    that peers stumble over. A note is legal, and worth knowing.
    """
    if as_json:
        click.echo(dump([_members(rule, row) for rule, row in RULES.items()]))
        return
    width = max(map(len, RULES))
    for rule, row in RULES.items():
        click.echo(
            f"{rule:{width}}  {row.severity:9}  {_versions(row):3}  {row.text} [{row.source}]"
        )


def _versions(row: Rule) -> str:
    return ",".join(f"v{version}" for version in sorted(row.versions)) or "all"


def _members(rule: str, row: Rule) -> dict[str, object]:
    return {
        "rule": rule,
        "severity": row.severity.value,
        "versions": sorted(row.versions),
        "text": row.text,
        "source": row.source,
    }
