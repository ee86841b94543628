"""The schemas' full lists of methods and updates, and acptap's."""

from typing import get_args

import pytest

from acptap.acp.methods import METHODS, Kind, Status
from acptap.acp.updates import UPDATES
from acptap.jsonrpc import Side
from tests.schemas import pythonsdk

VERSIONS = (1, 2)
WIDER = {"mcp/message"}
"""Methods with more than one row in the schemas (see differences.py)."""

NAMES_OF_ITS_OWN = {"session/set_model"}
"""Legacy methods that no SDK lists."""


def having(table, version, *statuses):
    return {name for name, row in table.items() if row.status(version) in statuses}


def listed(judged, version, part):
    """Return what a version's schemas list: the stable one, and the unstable one beyond it."""
    stable = {_name(row) for row in judged.tables[f"{version}"][part]}
    return stable, {_name(row) for row in judged.tables[f"{version} unstable"][part]} - stable


def _name(row):
    return row if isinstance(row, str) else row[0]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(("table", "part"), [(METHODS, "methods"), (UPDATES, "updates")])
def test_stable_and_unstable_are_what_the_schemas_say(judged, version, table, part):
    stable, unstable = listed(judged, version, part)
    assert having(table, version, Status.STABLE) == stable
    assert having(table, version, Status.UNSTABLE) == unstable


@pytest.mark.parametrize("version", VERSIONS)
def test_what_is_stable_is_in_the_unstable_schema_too(judged, version):
    for part in ("methods", "updates"):
        stable, _ = listed(judged, version, part)
        assert stable <= {_name(row) for row in judged.tables[f"{version} unstable"][part]}


@pytest.mark.parametrize("version", VERSIONS)
def test_who_calls_a_method_and_how_is_what_the_schemas_say(judged, version):
    rows = judged.tables[f"{version} unstable"]["methods"]
    calls: dict[str, set[tuple[str | None, str]]] = {}
    for method, caller, kind, _ in rows:
        if kind != "response":
            calls.setdefault(method, set()).add((caller, kind))
    for method in calls.keys() - WIDER:
        assert calls[method] == ours(METHODS[method]), method
    for method in WIDER:
        assert calls[method] == {("agent", "request"), ("client", "notification")}


def ours(row):
    kinds = ("request", "notification") if row.kind is Kind.EITHER else (row.kind.value,)
    return {(row.caller and row.caller.value, kind) for kind in kinds}


@pytest.mark.parametrize("version", VERSIONS)
def test_every_request_has_a_result(judged, version):
    rows = judged.tables[f"{version} unstable"]["methods"]
    kinds: dict[tuple[str, str | None], set[str]] = {}
    for method, caller, kind, _ in rows:
        kinds.setdefault((method, caller), set()).add(kind)
    assert all(("request" in told) is ("response" in told) for told in kinds.values())


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("bundle", ["", " unstable"])
def test_the_sdk_names_the_methods_that_its_schemas_define(judged, version, bundle):
    table = judged.tables[f"{version}{bundle}"]
    for side in (*Side, None):
        names = {method for method, caller, *_ in table["methods"] if caller == side}
        assert set(table["constants"][side or "both"]) == names


def test_legacy_methods_are_in_no_schema(judged):
    for version in VERSIONS:
        stable, unstable = listed(judged, version, "methods")
        assert not having(METHODS, version, Status.LEGACY) & (stable | unstable)


def python_sdk():
    pythonsdk.require()
    from acp import meta, schema  # noqa: PLC0415

    return meta, schema


def test_every_method_of_the_python_sdk_is_known():
    meta, _ = python_sdk()
    for caller, names in ((Side.CLIENT, meta.AGENT_METHODS), (Side.AGENT, meta.CLIENT_METHODS)):
        for method in names.values():
            assert METHODS[method].v1 is not Status.ABSENT, method
            assert METHODS[method].caller in (None, caller), method


def test_the_python_sdk_lists_what_the_schemas_no_longer_do():
    meta, _ = python_sdk()
    names = {*meta.AGENT_METHODS.values(), *meta.CLIENT_METHODS.values()}
    assert having(METHODS, 1, Status.LEGACY) - names == NAMES_OF_ITS_OWN


def test_every_update_of_the_python_sdk_is_known():
    _, schema = python_sdk()
    models = get_args(schema.SessionNotification.model_fields["update"].annotation)
    names = [get_args(model.model_fields["session_update"].annotation)[0] for model in models]
    assert len(names) > 10
    assert all(UPDATES[name].v1 is not Status.ABSENT for name in names)
