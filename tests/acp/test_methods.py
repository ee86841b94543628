import pytest

from acptap.acp.methods import METHODS, is_optional_notification, mints, unwrap

# One row a method, as acp.md 1.5 lists them:
# kind, who calls it, status in version 1, status in version 2, what it belongs to.
TABLE = """
initialize                  request       client  stable    stable    connection
authenticate                request       client  stable    absent    connection
auth/login                  request       client  absent    stable    connection
logout                      request       client  stable    absent    connection
auth/logout                 request       client  absent    stable    connection
auth/status                 request       client  unstable  unstable  connection
auth/status_update          notification  agent   unstable  unstable  connection
providers/list              request       client  unstable  unstable  connection
providers/set               request       client  unstable  unstable  connection
providers/disable           request       client  unstable  unstable  connection
session/new                 request       client  stable    stable    mints a session
session/load                request       client  stable    absent    session
session/resume              request       client  stable    stable    session
session/fork                request       client  unstable  unstable  mints a session
session/list                request       client  stable    stable    connection
session/delete              request       client  stable    stable    session
session/close               request       client  stable    stable    session
session/archive             request       client  unstable  unstable  session
session/unarchive           request       client  unstable  unstable  session
session/status              request       client  unstable  unstable  session
session/set_title           request       client  unstable  unstable  session
session/set_mode            request       client  stable    absent    session
session/set_model           request       client  legacy    absent    session
session/set_config_option   request       client  stable    stable    session
session/prompt              request       client  stable    stable    session
session/cancel              notification  client  stable    stable    session
tool_call/cancel            request       client  absent    stable    session
terminal/cancel             request       client  absent    stable    session
session/update              notification  agent   stable    stable    session
session/request_permission  request       agent   stable    stable    session
fs/read_text_file           request       agent   stable    absent    session
fs/write_text_file          request       agent   stable    absent    session
terminal/create             request       agent   stable    absent    session
terminal/output             request       agent   stable    absent    session
terminal/release            request       agent   stable    absent    session
terminal/wait_for_exit      request       agent   stable    absent    session
terminal/kill               request       agent   stable    absent    session
elicitation/create          request       agent   stable    stable    quotes a request
elicitation/complete        notification  agent   stable    stable    quotes an elicitation
mcp/message                 either        both    unstable  unstable  connection
mcp/connect                 request       agent   legacy    legacy    connection
mcp/disconnect              request       agent   legacy    legacy    connection
nes/start                   request       client  legacy    absent    mints a session
nes/suggest                 request       client  legacy    absent    session
nes/close                   request       client  legacy    absent    session
nes/accept                  notification  client  legacy    absent    session
nes/reject                  notification  client  legacy    absent    session
document/didOpen            notification  client  legacy    absent    session
document/didChange          notification  client  legacy    absent    session
document/didClose           notification  client  legacy    absent    session
document/didSave            notification  client  legacy    absent    session
document/didFocus           notification  client  legacy    absent    session
$/cancel_request            notification  both    stable    stable    quotes a request
proxy/initialize            request       both    unstable  unstable  connection
proxy/successor             either        both    unstable  unstable  connection
"""


def test_every_method_has_its_row():
    rows = [
        f"{name:<28}{row.kind:<14}{row.caller or 'both':<8}{row.v1:<10}{row.v2:<10}{row.scope}"
        for name, row in METHODS.items()
    ]
    assert rows == TABLE.strip().splitlines()


STATUS = {
    "version 1": ("session/load", 1, "stable"),
    "version 2": ("session/load", 2, "absent"),
    "a later version is read as 2": ("auth/login", 3, "stable"),
}


@pytest.mark.parametrize(("method", "version", "status"), STATUS.values(), ids=STATUS)
def test_status(method, version, status):
    assert METHODS[method].status(version) == status


MINTS = {
    "session/new": True,
    "session/fork": True,
    "nes/start": True,
    "session/load": False,
    "terminal/create": False,
    "_acme/new": False,
}


@pytest.mark.parametrize(("method", "minted"), MINTS.items(), ids=MINTS)
def test_mints(method, minted):
    assert mints(method) is minted


OPTIONAL = {
    "$/cancel_request": True,
    "$/progress": True,
    "_acme/log": True,
    "session/cancel": False,
    "x/_y": False,
    "": False,
}


@pytest.mark.parametrize(("method", "optional"), OPTIONAL.items(), ids=OPTIONAL)
def test_is_optional_notification(method, optional):
    assert is_optional_notification(method) is optional


WRAPPED: dict[str, tuple[tuple[str, object], tuple[str, object]]] = {
    "another method is itself": (
        ("session/list", {"method": "x"}),
        ("session/list", {"method": "x"}),
    ),
    "edge 55 the inner call": (
        ("proxy/successor", {"method": "session/prompt", "params": {"sessionId": "s"}}),
        ("session/prompt", {"sessionId": "s"}),
    ),
    "an inner call without params": (
        ("proxy/successor", {"method": "session/list"}),
        ("session/list", None),
    ),
    "a chain of two": (
        ("proxy/successor", {"method": "proxy/successor", "params": {"method": "initialize"}}),
        ("initialize", None),
    ),
    "no inner method": (("proxy/successor", {"params": {}}), ("proxy/successor", {"params": {}})),
    "an inner method that is no string": (
        ("proxy/successor", {"method": 5}),
        ("proxy/successor", {"method": 5}),
    ),
    "params as an array": (("proxy/successor", ["x"]), ("proxy/successor", ["x"])),
    "no params": (("proxy/successor", None), ("proxy/successor", None)),
}


@pytest.mark.parametrize(("call", "inner"), WRAPPED.values(), ids=WRAPPED)
def test_unwrap(call, inner):
    assert unwrap(*call) == inner
