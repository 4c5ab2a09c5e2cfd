"""SARIF 2.1.0, as linters, compilers and scanners write it: its results as findings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import BinaryIO
from urllib.parse import unquote

from agent_fox.verifier.ground.results import FailureKind
from agent_fox.verifier.logs.decode import pieces
from agent_fox.verifier.logs.frames import first_line
from agent_fox.verifier.logs.kinds import patterns_in
from agent_fox.verifier.logs.parsers import Cut
from agent_fox.verifier.logs.streams.json_stream import EACH, parts
from agent_fox.verifier.logs.streams.records import Record, found, record, records, text

_LIKE = patterns_in(__file__)
_RUN = ("runs", EACH)
_RESULT, _TOOL = (*_RUN, "results", EACH), (*_RUN, "tool")
_TOLD = tuple((*_RUN, "invocations", EACH, f"tool{what}Notifications", EACH) for what in ("Configuration", "Execution"))
_BASES, _ARTIFACT = (*_RUN, "originalUriBaseIds"), (*_RUN, "artifacts", EACH)
_READ = ("ruleId", "rule", "message", "locations", "level", "kind", "suppressions", "baselineState")
MOST_HELD = 20_000  # results, and names of files, held of one run


def results(file: BinaryIO) -> Iterator[Record]:
    """The results of every run, and the files it could not read. Accepted and absent results are left out."""
    run = _Run()
    try:
        for path, value in parts(pieces(file), (_RESULT, *_TOLD, _TOOL, _BASES, _ARTIFACT), closing=_RUN):
            if path == _RUN:
                yield from run.findings()
                run = _Run()
            else:
                run.take(path, record(value))
    except Cut:
        yield from run.findings()
        raise


@dataclass(slots=True)
class _Run:
    """What is known of a run, until that ends: SARIF leaves the order of its parts free."""

    kind: str = FailureKind.LINT_FAILURE
    levels: dict[str, str] = field(default_factory=dict)
    bases: dict[str, str] = field(default_factory=dict)
    artifacts: list[str] = field(default_factory=list)
    results: list[Record] = field(default_factory=list)

    def take(self, path: tuple[str, ...], value: Record) -> None:
        # What a tool tells of its run may be an error in a file, such as one that it could not parse.
        is_about_code = text(value.get("level")) == "error" and any(records(value.get("locations")))
        if path == _TOOL:
            driver = record(value.get("driver"))
            if _LIKE["compilers"].match(text(driver.get("name"))):
                self.kind = FailureKind.COMPILE_ERROR
            for component in (driver, *records(value.get("extensions"))):
                for each in records(component.get("rules")):
                    if level := text(found(each, "defaultConfiguration.level")):
                        self.levels[text(each.get("id"))] = level
        elif path == _BASES:
            self.bases = {name: text(record(base).get("uri")) for name, base in value.items()}
        elif path == _ARTIFACT and len(self.artifacts) < MOST_HELD:
            self.artifacts.append(text(found(value, "location.uri")))
        elif len(self.results) < MOST_HELD and (path == _RESULT or is_about_code):
            rule = text(found(value, "descriptor.id"))
            self.results.append({"ruleId": rule} | {name: value[name] for name in _READ if name in value})

    def findings(self) -> Iterator[Record]:
        for result in self.results:
            words = {text(each.get("status")) for each in records(result.get("suppressions"))}
            is_gone = result.get("baselineState") == "absent" or result.get("kind", "fail") != "fail"
            if is_gone or words & {"", "accepted"}:
                continue
            rule, message = text(found(result, "ruleId|rule.id")), record(result.get("message"))
            reason, arguments = text(found(message, "text|markdown")), message.get("arguments")
            for n, argument in enumerate(arguments if isinstance(arguments, list) else []):
                reason = reason.replace(f"{{{n}}}", str(argument))
            physical, logical = record(found(result, "locations.physicalLocation")), "locations.logicalLocations"
            location = record(physical.get("artifactLocation"))
            index, uri = location.get("index"), text(location.get("uri"))
            if not uri and isinstance(index, int) and 0 <= index < len(self.artifacts):
                uri = self.artifacts[index]
            base = self.bases.get(text(location.get("uriBaseId")), "")
            yield {
                "kind": self.kind,
                "message": first_line(reason),
                "file": base + uri if base.startswith(("file:", "/")) else unquote(uri),
                "line": found(physical, "region.startLine"),
                "column": found(physical, "region.startColumn"),
                "symbol": found(result, f"{logical}.fullyQualifiedName|{logical}.name"),
                "evidence": f"{rule} {reason}".strip(),
                "code": rule,
                "severity": text(result.get("level")) or self.levels.get(rule, "warning"),
            }
