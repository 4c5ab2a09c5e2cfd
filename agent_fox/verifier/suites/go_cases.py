"""The tests of a `go test -json` run, and the text that Go would have printed. Other events are left aside."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import field
from pathlib import Path

from agent_fox.core.json_text import json_object
from agent_fox.core.regex import regex
from agent_fox.core.values import dataclass
from agent_fox.system.files import content_in
from agent_fox.verifier.ground.cases import Case, Outcome

LONGEST_TEXT = 20_000  # characters kept of what one test printed
_OUTCOMES = {"pass": Outcome.PASSED, "fail": Outcome.FAILED, "skip": Outcome.SKIPPED}
_MODULE = regex(r"^module\s+(\S+)", re.MULTILINE)
_NOISE = regex(r"^\s*(?:=== |--- (?:PASS|FAIL|SKIP): )")
_TEST = regex(r"^func (?P<name>(?:Test|Fuzz|Example|Benchmark)\w*)\(", re.MULTILINE)


@dataclass(slots=True)
class _Running:
    text: list[str] = field(default_factory=list)
    length: int = 0

    def add(self, line: str) -> None:
        if self.length < LONGEST_TEXT and not _NOISE.match(line):
            self.text.append(line[:LONGEST_TEXT])
            self.length += len(line)


@dataclass(frozen=True, slots=True)
class GoRun:
    """What the events say. `has_events`: whether there were any, so that no tests means that none ran."""

    cases: tuple[Case, ...]
    has_events: bool


def read_go(log: Path, workspace: Path) -> GoRun:
    """Tests that ended, each with its outcome; one that the process's end cut off has failed."""
    reader = _Reader(_Sources(workspace))
    with log.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            reader.take(line)
    return GoRun(tuple(reader.ended()), reader.has_events)


def plain_text(output: str) -> str:
    """Go's events as the lines that they carry; other lines as they stand."""
    return "".join(_output(line) for line in output.splitlines(keepends=True))


def _output(line: str) -> str:
    event = _event(line)
    return line if event is None else str(event.get("Output", ""))


def _event(line: str) -> dict[str, object] | None:
    if not line.startswith('{"'):
        return None
    event = json_object(line)
    return event if event is not None and isinstance(event.get("Action"), str) else None


class _Reader:
    def __init__(self, sources: _Sources) -> None:
        self.has_events = False
        self._sources = sources
        self._running: dict[tuple[str, str], _Running] = {}
        self._cases: dict[tuple[str, str], Case] = {}
        self._failed: set[str] = set()

    def take(self, line: str) -> None:
        event = _event(line)
        if event is None:
            return
        self.has_events = True
        package, test = str(event.get("Package", "")), str(event.get("Test", ""))
        action = str(event["Action"])
        if not test:
            self._failed |= {package} if action == "fail" else set()
        elif action == "run":
            self._running[package, test] = _Running()
        elif action == "output" and (package, test) in self._running:
            self._running[package, test].add(str(event.get("Output", "")))
        elif action in _OUTCOMES and (package, test) in self._running:
            self._end(package, test, _OUTCOMES[action])

    def ended(self) -> Iterator[Case]:
        for package, test in list(self._running):
            if package in self._failed:
                self._end(package, test, Outcome.FAILED, is_cut_off=True)
        yield from self._cases.values()

    def _end(self, package: str, test: str, outcome: Outcome, *, is_cut_off: bool = False) -> None:
        """A test that ended twice, as with `-count=2`, failed if it failed once."""
        before, running = self._cases.get((package, test)), self._running.pop((package, test))
        if before is not None and before.outcome is Outcome.FAILED:
            return
        text = "".join(running.text)
        message = next((line.strip() for line in text.splitlines() if line.strip()), "")
        *around, name = test.split("/")
        file = self._sources.file_of(package, around[0] if around else name)
        self._cases[package, test] = Case(tuple(around), name, file, outcome, message, text, is_cut_off)


class _Sources:
    """Which file of a package holds a test, by the folder that the module's name leads to."""

    def __init__(self, workspace: Path) -> None:
        self._workspace = workspace
        self._module = _module_of(workspace)
        self._files: dict[str, dict[str, str]] = {}

    def file_of(self, package: str, test: str) -> str:
        if package not in self._files:
            self._files[package] = dict(self._tests_in(package))
        return self._files[package].get(test, "")

    def _tests_in(self, package: str) -> Iterator[tuple[str, str]]:
        inside = package.removeprefix(self._module).strip("/") if self._module else package
        for path in sorted((self._workspace / inside).glob("*_test.go")):
            file = path.relative_to(self._workspace).as_posix()
            for each in _TEST.finditer((content_in(self._workspace, file) or b"").decode("utf-8", "replace")):
                yield each["name"], file


def _module_of(workspace: Path) -> str:
    match = _MODULE.search((content_in(workspace, "go.mod") or b"").decode("utf-8", "replace"))
    return match[1] if match else ""
