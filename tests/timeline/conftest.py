"""Where timelines are shown, and what happens to a cassette while it is followed."""

from pathlib import Path

import pytest

from acptap.app.show import following


@pytest.fixture(autouse=True)
def _plain_surroundings(monkeypatch):
    for name in ("NO_COLOR", "FORCE_COLOR", "COLORTERM", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def looks(folder, monkeypatch):
    """Let something happen between two looks at the file.

    Bytes are appended, errors raised, functions called.
    """

    def happening(*steps):
        left = list(steps)

        def pause():
            step = left.pop(0)
            if isinstance(step, BaseException):
                raise step
            if callable(step):
                step()
            elif step:
                with Path("x.jsonl").open("ab") as file:
                    file.write(step)

        monkeypatch.setattr(following, "pause", pause)
        return left

    return happening
