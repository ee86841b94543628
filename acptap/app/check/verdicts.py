"""Findings, written: as lines for people, as one JSON document, as JUnit XML."""

import io
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol, TextIO

from acptap.checking import Finding
from acptap.notes import Severity
from acptap.rules import RULES
from acptap.timeline.printable import visible, visible_json
from acptap.wire.jsontext import dump

_QUOTED = 20
"""Findings of one rule that a JUnit report quotes; the rest are counted."""
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(slots=True)
class Tally:
    """How often rules were met, and by how much.

    Attributes:
        entries: Entries read.
        counts: Findings by severity.
        error: Why the cassette can't be read, or nothing.
    """

    entries: int = 0
    counts: dict[Severity, int] = field(default_factory=lambda: dict.fromkeys(Severity, 0))
    error: str = ""

    def add(self, other: "Tally") -> None:
        """Add up."""
        self.entries += other.entries
        for severity, count in other.counts.items():
            self.counts[severity] += count

    def words(self) -> str:
        """Return the counts as words."""
        parts = [counted(count, severity.value) for severity, count in self.counts.items() if count]
        return ", ".join(parts) or "nothing to report"


class Report(Protocol):
    """Writes findings as they come."""

    def begin(self) -> None:
        """Start the document."""

    def open(self, name: str) -> None:
        """Start a cassette."""

    def find(self, finding: Finding) -> None:
        """Take in a finding."""

    def close(self, tally: Tally) -> None:
        """End a cassette."""

    def end(self, total: Tally, files: int, unreadable: int) -> None:
        """End the document."""


class TextReport:
    """A line for each finding, and a summary."""

    def __init__(self, out: TextIO, failing: frozenset[Severity]) -> None:
        del failing  # every severity has its lines
        self._out = out
        self._name = ""

    def begin(self) -> None:
        """Nothing stands in front."""

    def open(self, name: str) -> None:
        """Remember whose lines come."""
        self._name = visible(name)

    def find(self, finding: Finding) -> None:
        """Write a line."""
        self._out.write(
            f"{self._name}:{finding.line}: {finding.severity} {finding.rule}: {said(finding)}\n"
        )

    def close(self, tally: Tally) -> None:
        """Say why a cassette can't be read; that it was is not worth a line."""
        if tally.error:
            self._out.write(f"{visible(tally.error)}\n")

    def end(self, total: Tally, files: int, unreadable: int) -> None:
        """Write the summary."""
        lost = f", {counted(unreadable, 'file')} not readable" if unreadable else ""
        self._out.write(
            f"{counted(files, 'cassette')}, {counted(total.entries, 'entry')}: "
            f"{total.words()}{lost}\n"
        )


class JsonReport:
    """One JSON document, written as it grows."""

    def __init__(self, out: TextIO, failing: frozenset[Severity]) -> None:
        del failing
        self._out = out
        self._files = self._findings = 0

    def begin(self) -> None:
        """Open the list of files."""
        self._out.write('{"files":[')

    def open(self, name: str) -> None:
        """Open a file's list of findings."""
        self._separate(self._files)
        self._files, self._findings = self._files + 1, 0
        self._out.write(f'{{"file":{_json(name)},"findings":[')

    def find(self, finding: Finding) -> None:
        """Write a finding."""
        self._separate(self._findings)
        self._findings += 1
        self._out.write(_json({
            "line": finding.line, "severity": finding.severity.value, "rule": finding.rule,
            "sentence": finding.sentence, "detail": finding.detail,
        }))  # fmt: skip

    def close(self, tally: Tally) -> None:
        """Close a file's list, and sum it up."""
        error = _json(tally.error or None)
        self._out.write(f'],"entries":{tally.entries},{_counts(tally)},"error":{error}}}')

    def end(self, total: Tally, files: int, unreadable: int) -> None:
        """Close the list of files, and sum up."""
        self._out.write(
            f'],"entries":{total.entries},{_counts(total)},'
            f'"cassettes":{files},"unreadable":{unreadable}}}\n'
        )

    def _separate(self, before: int) -> None:
        if before:
            self._out.write(",")


class JunitReport:
    """JUnit XML: a suite for each cassette, a case for each rule."""

    def __init__(self, out: TextIO, failing: frozenset[Severity]) -> None:
        self._out = out
        self._failing = failing
        self._name = ""
        self._met: dict[str, list[str]] = {}
        self._more: dict[str, int] = {}

    def begin(self) -> None:
        """Open the suites."""
        self._out.write(
            '<?xml version="1.0" encoding="utf-8"?>\n<testsuites name="acptap check">\n'
        )

    def open(self, name: str) -> None:
        """Start a suite."""
        self._name, self._met, self._more = name, {}, {}

    def find(self, finding: Finding) -> None:
        """Keep a finding, or count it if there are many of its kind."""
        quoted = self._met.setdefault(finding.rule, [])
        if len(quoted) < _QUOTED:
            quoted.append(f"{self._name}:{finding.line}: {said(finding)}")
        else:
            self._more[finding.rule] = self._more.get(finding.rule, 0) + 1

    def close(self, tally: Tally) -> None:
        """Write the suite."""
        suite = ET.Element("testsuite", name=_xml(self._name))
        readable = self._case(suite, "readable")
        if tally.error:
            ET.SubElement(readable, "error", message=_xml(tally.error))
        for rule in RULES if not tally.error else self._met:
            self._judge(self._case(suite, rule), rule)
        suite.set("tests", str(len(suite)))
        suite.set("failures", str(len(suite.findall("*/failure"))))
        suite.set("errors", "1" if tally.error else "0")
        text = io.StringIO()
        ET.ElementTree(suite).write(text, encoding="unicode")
        self._out.write(text.getvalue() + "\n")

    def end(self, total: Tally, files: int, unreadable: int) -> None:
        """Close the suites."""
        del total, files, unreadable  # readers of JUnit add up themselves
        self._out.write("</testsuites>\n")

    def _case(self, suite: ET.Element, name: str) -> ET.Element:
        return ET.SubElement(suite, "testcase", classname=_xml(self._name), name=name)

    def _judge(self, case: ET.Element, rule: str) -> None:
        quoted = self._met.get(rule)
        if quoted is None:
            return
        row, more = RULES[rule], self._more.get(rule, 0)
        words = "\n".join([*quoted, f"and {more} more"] if more else quoted)
        if row.severity in self._failing:
            failure = ET.SubElement(case, "failure", type=row.severity.value, message=row.text)
            failure.text = _xml(words)
        else:
            ET.SubElement(case, "system-out").text = _xml(f"{row.severity}: {words}")


FORMATS: dict[str, Callable[[TextIO, frozenset[Severity]], Report]] = {
    "text": TextReport,
    "json": JsonReport,
    "junit": JunitReport,
}


def said(finding: Finding) -> str:
    """Return a finding as a sentence with its particulars."""
    particulars = ", ".join(
        f"{key} {value if isinstance(value, str) else dump(value).decode()}"
        for key, value in finding.detail.items()
    )
    return visible(f"{finding.sentence} ({particulars})" if particulars else finding.sentence)


def counted(count: int, word: str) -> str:
    """Return a number with its noun."""
    plural = f"{word[:-1]}ies" if word.endswith("y") else f"{word}s"
    return f"{count:,} {word if count == 1 else plural}"


def _counts(tally: Tally) -> str:
    return ",".join(f'"{severity.value}s":{count}' for severity, count in tally.counts.items())


def _json(value: object) -> str:
    return visible_json(dump(value).decode())


def _xml(text: str) -> str:
    """Return text that XML 1.0 can hold."""
    return _NOT_XML.sub(lambda found: visible(found[0]), text)
