"""Neither side can tell the relay from its peer: same bytes, same ends."""

from typing import Any

import pytest

from acptap.transports.tls import Trust
from tests.relay.conformance import CASES
from tests.relay.conftest import Certified
from tests.relay.reported import LARGE, REPORTED
from tests.relay.scripts import Case, Names, play
from tests.relay.stage import Fainting, Stage
from tests.relay.wires import Wire, listening

WAYS = ("plain", "base path", "TLS", "fainting spectator")


def compare(case: Case, way: str, stage: Stage, certified: Certified) -> None:
    """Play a case directly and relayed; bytes and ends must be the same."""
    base = "/pre/fix" if way == "base path" else ""
    options: dict[str, Any] = {}
    with listening() as upstream:
        scheme = b"https" if way == "TLS" else b"http"
        names = Names(upstream.authority.encode(), base.encode(), scheme)
        expected = play(case, upstream.connect(), upstream.accept, names)
        if way == "TLS":
            upstream.context = certified.server
            options["trust"] = Trust(certified.ca)
        if way == "fainting spectator":
            options["spectate"] = Fainting
        with stage.relay(upstream.url + base, **options) as relay:
            client = Wire(relay.connect())
            assert play(case, client, upstream.accept, names, relay.authority) == expected
        fainted = [report for report in relay.reports if "fainted in from_client" in report]
        assert len(relay.reports) == len(fainted) == (way == "fainting spectator")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_the_relay_is_not_noticed(case: Case, way: str, stage: Stage, certified: Certified) -> None:
    compare(case, way, stage, certified)


@pytest.mark.parametrize("way", ["base path", "TLS"])
@pytest.mark.parametrize("case", REPORTED.values(), ids=REPORTED)
def test_reported(case: Case, way: str, stage: Stage, certified: Certified) -> None:
    compare(case, way, stage, certified)


@pytest.mark.parametrize("case", LARGE.values(), ids=LARGE)
def test_reported_and_large(case: Case, stage: Stage, certified: Certified) -> None:
    compare(case, "base path", stage, certified)
