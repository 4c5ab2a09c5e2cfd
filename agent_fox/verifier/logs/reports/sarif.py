"""SARIF 2.1.0, as linters, compilers and scanners write it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, BinaryIO
from urllib.parse import unquote

from agent_fox.core.regex import regex
from agent_fox.verifier.ground.results import Failure, FailureKind, Parsed
from agent_fox.verifier.logs.decode import pieces
from agent_fox.verifier.logs.documents import Document
from agent_fox.verifier.logs.frames import first_line
from agent_fox.verifier.logs.gathering import Gathering
from agent_fox.verifier.logs.streams.json_stream import EACH, parts
from agent_fox.verifier.logs.streams.records import Record, number, record, records, text

if TYPE_CHECKING:
    from agent_fox.verifier.logs.protocol import Workspace

_RUN = ("runs", EACH)
_RESULT = (*_RUN, "results", EACH)
_INVOCATION = (*_RUN, "invocations", EACH)
_TOLD = tuple((*_INVOCATION, f"tool{what}Notifications", EACH) for what in ("Configuration", "Execution"))
_TOOL = (*_RUN, "tool")
_BASES = (*_RUN, "originalUriBaseIds")
_ARTIFACT = (*_RUN, "artifacts", EACH)
_BEGINS = regex(r'\{(?=[\s\S]*"runs"\s*:)(?=[\s\S]*(?i:sarif))')
_COMPILERS = regex(r"^(?:GNU |gcc|g\+\+|clang|cl\b|MSVC|Microsoft.*Compiler|javac|rustc|swiftc)", re.IGNORECASE)
_READ = ("ruleId", "rule", "message", "locations", "level", "kind", "suppressions", "baselineState")
MOST_HELD = 20_000  # results, and names of files, held of one run


@dataclass(slots=True)
class _Run:
    """What one run holds; the parts that its results refer to may come after them."""

    kind: FailureKind = FailureKind.LINT_FAILURE
    levels: dict[str, str] = field(default_factory=dict)
    bases: dict[str, str] = field(default_factory=dict)
    artifacts: list[str] = field(default_factory=list)
    results: list[Record] = field(default_factory=list)


class _Reader:
    """Reads the results of every run, and the files it could not read. Accepted and absent results are left out.

    It holds the results of a run until that ends: SARIF leaves the order of its parts free.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._found = Gathering()
        self._workspace = workspace
        self._run = _Run()

    def read(self, file: BinaryIO) -> None:
        for path, value in parts(pieces(file), (_RESULT, *_TOLD, _TOOL, _BASES, _ARTIFACT), closing=_RUN):
            self._take(path, record(value))

    def parsed(self, *, is_complete: bool) -> Parsed:
        self._finish_run()
        return self._found.parsed(is_complete=is_complete)

    def _take(self, path: tuple[str, ...], value: Record) -> None:
        run = self._run
        if path == _RUN:
            self._finish_run()
        elif path == _TOOL:
            is_compiler = _COMPILERS.match(text(record(value.get("driver")).get("name")))
            run.kind = FailureKind.COMPILE_ERROR if is_compiler else FailureKind.LINT_FAILURE
            run.levels = _default_levels(value)
        elif path == _BASES:
            run.bases = {name: text(record(base).get("uri")) for name, base in value.items()}
        elif path == _ARTIFACT and len(run.artifacts) < MOST_HELD:
            run.artifacts.append(text(record(value.get("location")).get("uri")))
        elif len(run.results) < MOST_HELD and (path == _RESULT or _is_about_code(value)):
            rule = text(record(value.get("descriptor")).get("id"))
            run.results.append({"ruleId": rule} | {name: value[name] for name in _READ if name in value})

    def _finish_run(self) -> None:
        for result in self._run.results:
            if _counts(result):
                self._finding(result)
        self._run = _Run()

    def _finding(self, result: Record) -> None:
        rule = text(result.get("ruleId")) or text(record(result.get("rule")).get("id"))
        message_text = _message(record(result.get("message")))
        location = next(records(result.get("locations")), {})
        physical, logical = (
            record(location.get("physicalLocation")),
            next(records(location.get("logicalLocations")), {}),
        )
        region = record(physical.get("region"))
        failure = Failure(
            kind=self._run.kind,
            message=first_line(message_text),
            file=self._file(record(physical.get("artifactLocation"))),
            line=number(region.get("startLine")),
            column=number(region.get("startColumn")),
            symbol=text(logical.get("fullyQualifiedName")) or text(logical.get("name")) or None,
            evidence=f"{rule} {message_text}".strip(),
            code=rule or None,
        )
        if (text(result.get("level")) or self._run.levels.get(rule, "warning")) == "error":
            self._found.fail(failure)
        else:
            self._found.warn(failure)

    def _file(self, location: Record) -> str | None:
        index = location.get("index")
        uri = text(location.get("uri"))
        if not uri and isinstance(index, int) and 0 <= index < len(self._run.artifacts):
            uri = self._run.artifacts[index]
        base = self._run.bases.get(text(location.get("uriBaseId")), "")
        path = base + uri if base.startswith(("file:", "/")) else unquote(uri)
        return self._workspace.relative(path) or None


def _default_levels(tool: Record) -> dict[str, str]:
    """The level of each rule, for results without a level of their own."""
    components = [record(tool.get("driver")), *records(tool.get("extensions"))]
    rules = (rule for component in components for rule in records(component.get("rules")))
    levels = ((text(rule.get("id")), text(record(rule.get("defaultConfiguration")).get("level"))) for rule in rules)
    return {rule: level for rule, level in levels if level}


def _counts(result: Record) -> bool:
    """Whether a result is a current finding that was not accepted."""
    is_accepted = any(text(record.get("status")) in ("", "accepted") for record in records(result.get("suppressions")))
    is_gone = result.get("baselineState") == "absent"
    return not (is_accepted or is_gone or result.get("kind", "fail") != "fail")


def _is_about_code(notification: Record) -> bool:
    """Whether what a tool tells of its run is an error in a file, such as one that it could not parse."""
    return text(notification.get("level")) == "error" and next(records(notification.get("locations")), None) is not None


def _message(message: Record) -> str:
    """The text with its placeholders filled in."""
    message_text = text(message.get("text")) or text(message.get("markdown"))
    arguments = message.get("arguments")
    for n, argument in enumerate(arguments if isinstance(arguments, list) else []):
        message_text = message_text.replace(f"{{{n}}}", str(argument))
    return message_text


SARIF = Document(_BEGINS, _Reader)
