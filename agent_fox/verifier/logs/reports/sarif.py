"""SARIF 2.1.0, as linters, compilers and scanners write it."""

from __future__ import annotations

from typing import BinaryIO
from urllib.parse import unquote

from agent_fox.verifier.ground.results import Failure, FailureKind, Parsed
from agent_fox.verifier.logs.decode import pieces
from agent_fox.verifier.logs.frames import first_line
from agent_fox.verifier.logs.gathering import Gathering
from agent_fox.verifier.logs.kinds import patterns_in
from agent_fox.verifier.logs.parsers import Document
from agent_fox.verifier.logs.protocol import Workspace
from agent_fox.verifier.logs.streams.json_stream import EACH, parts
from agent_fox.verifier.logs.streams.records import Record, found, number, record, records, text

_LIKE = patterns_in(__file__)
_RUN = ("runs", EACH)
_RESULT, _TOOL = (*_RUN, "results", EACH), (*_RUN, "tool")
_TOLD = tuple((*_RUN, "invocations", EACH, f"tool{what}Notifications", EACH) for what in ("Configuration", "Execution"))
_BASES, _ARTIFACT = (*_RUN, "originalUriBaseIds"), (*_RUN, "artifacts", EACH)
_READ = ("ruleId", "rule", "message", "locations", "level", "kind", "suppressions", "baselineState")
MOST_HELD = 20_000  # results, and names of files, held of one run


class _Reader:
    """Reads the results of every run, and the files it could not read. Accepted and absent results are left out.

    It holds the results of a run until that ends: SARIF leaves the order of its parts free.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._found = Gathering()
        self._workspace = workspace
        self._begin_run()

    def _begin_run(self) -> None:
        self._kind = FailureKind.LINT_FAILURE
        self._levels: dict[str, str] = {}
        self._bases: dict[str, str] = {}
        self._artifacts: list[str] = []
        self._results: list[Record] = []

    def read(self, file: BinaryIO) -> None:
        for path, value in parts(pieces(file), (_RESULT, *_TOLD, _TOOL, _BASES, _ARTIFACT), closing=_RUN):
            self._take(path, record(value))

    def parsed(self, *, is_complete: bool) -> Parsed:
        self._end_run()
        return self._found.parsed(is_complete=is_complete)

    def _take(self, path: tuple[str, ...], value: Record) -> None:
        # What a tool tells of its run may be an error in a file, such as one that it could not parse.
        is_about_code = text(value.get("level")) == "error" and any(records(value.get("locations")))
        if path == _RUN:
            self._end_run()
        elif path == _TOOL:
            driver = record(value.get("driver"))
            is_compiler = _LIKE["compilers"].match(text(driver.get("name")))
            self._kind = FailureKind.COMPILE_ERROR if is_compiler else FailureKind.LINT_FAILURE
            for component in (driver, *records(value.get("extensions"))):
                for each in records(component.get("rules")):
                    if level := text(found(each, "defaultConfiguration.level")):
                        self._levels[text(each.get("id"))] = level
        elif path == _BASES:
            self._bases = {name: text(record(base).get("uri")) for name, base in value.items()}
        elif path == _ARTIFACT and len(self._artifacts) < MOST_HELD:
            self._artifacts.append(text(found(value, "location.uri")))
        elif len(self._results) < MOST_HELD and (path == _RESULT or is_about_code):
            rule = text(found(value, "descriptor.id"))
            self._results.append({"ruleId": rule} | {name: value[name] for name in _READ if name in value})

    def _end_run(self) -> None:
        for result in self._results:
            words = {text(each.get("status")) for each in records(result.get("suppressions"))}
            is_gone = result.get("baselineState") == "absent" or result.get("kind", "fail") != "fail"
            if not (is_gone or words & {"", "accepted"}):
                self._finding(result)
        self._begin_run()

    def _finding(self, result: Record) -> None:
        rule, message = text(found(result, "ruleId|rule.id")), _message(record(result.get("message")))
        physical, logical = record(found(result, "locations.physicalLocation")), "locations.logicalLocations"
        failure = Failure(
            self._kind,
            first_line(message),
            file=self._file(record(physical.get("artifactLocation"))),
            line=number(found(physical, "region.startLine")),
            column=number(found(physical, "region.startColumn")),
            symbol=text(found(result, f"{logical}.fullyQualifiedName|{logical}.name")) or None,
            evidence=f"{rule} {message}".strip(),
            code=rule or None,
        )
        is_grave = (text(result.get("level")) or self._levels.get(rule, "warning")) == "error"
        (self._found.fail if is_grave else self._found.warn)(failure)

    def _file(self, location: Record) -> str | None:
        index, uri = location.get("index"), text(location.get("uri"))
        if not uri and isinstance(index, int) and 0 <= index < len(self._artifacts):
            uri = self._artifacts[index]
        base = self._bases.get(text(location.get("uriBaseId")), "")
        return self._workspace.relative(base + uri if base.startswith(("file:", "/")) else unquote(uri)) or None


def _message(message: Record) -> str:
    """The text with its placeholders filled in."""
    filled, arguments = text(found(message, "text|markdown")), message.get("arguments")
    for n, argument in enumerate(arguments if isinstance(arguments, list) else []):
        filled = filled.replace(f"{{{n}}}", str(argument))
    return filled


SARIF = Document(_LIKE["begins"], _Reader)
