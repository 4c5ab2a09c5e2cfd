"""The tests that `cargo test` names in its text. A target counts only if its lines and its own counts agree."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from agent_fox.core.regex import regex
from agent_fox.verifier.ground.cases import Case, Outcome, ReportUnreadable

LONGEST_TEXT = 20_000  # characters kept of what one failed test printed
_TARGET = regex(r"^\s+Running (?:unittests )?(?P<file>\S+) \(")
_DOC = regex(r"^\s+Doc-tests \S+$")
_RUNNING = regex(r"^running (?P<count>\d+) tests?$")
_TEST = regex(r"^test (?P<name>\S.*?)(?: - should panic)? \.\.\. (?P<how>ok|FAILED|ignored)\b")
_SECTION = regex(r"^---- (?P<name>\S.*?) (?:stdout|stderr) ----$")
_RESULT = regex(r"^test result: \w+\. (?P<passed>\d+) passed; (?P<failed>\d+) failed; (?P<ignored>\d+) ignored;")
_DOC_TEST = regex(r"^(?P<file>\S+) - (?P<name>.+)$")
_PANICKED = regex(r"^thread '.*' .*panicked at")
_OUTCOMES = {"ok": Outcome.PASSED, "FAILED": Outcome.FAILED, "ignored": Outcome.SKIPPED}


@dataclass(slots=True)
class _Target:
    """One test program: the tests that it announced, those that it named, and the output of failed ones."""

    file: str
    wanted: int
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    printed: dict[str, list[str]] = field(default_factory=dict)
    section: str = ""
    is_over: bool = False

    def take(self, line: str) -> None:
        if match := _RESULT.match(line):
            self._check([int(match[how]) for how in ("passed", "failed", "ignored")])
        elif len(self.outcomes) < self.wanted:
            if match := _TEST.match(line):
                self.outcomes[match["name"]] = _OUTCOMES[match["how"]]
        elif match := _SECTION.match(line):
            self.section = match["name"]
        elif self.section:
            self.printed.setdefault(self.section, []).append(line)

    def _check(self, counts: list[int]) -> None:
        seen = list(self.outcomes.values())
        known = [sum(each is how for each in seen) for how in (Outcome.PASSED, Outcome.FAILED, Outcome.SKIPPED)]
        if known != counts:
            raise ReportUnreadable(f"the tests that cargo names in {self.file or 'a target'} are not those it counts")
        self.is_over = True

    def cases(self, workspace: Path) -> Iterator[Case]:
        for name, outcome in self.outcomes.items():
            case = _case(name, self.file, workspace)
            text = "\n".join(self.printed.get(name, ()))[:LONGEST_TEXT]
            yield replace(case, outcome=outcome, message=_message(text), text=text)


def read_rust(log: Path, workspace: Path) -> tuple[Case, ...] | None:
    """The tests of every target that ran, None if none did. Raises ReportUnreadable where lines and counts differ."""
    with log.open(encoding="utf-8", errors="replace") as lines:
        targets = list(_targets(line.rstrip("\n") for line in lines))
    if any(not target.is_over for target in targets[:-1]):
        raise ReportUnreadable("a test program that cargo ran has no result")
    return tuple(case for target in targets for case in target.cases(workspace)) if targets else None


def _targets(lines: Iterable[str]) -> Iterator[_Target]:
    """Each program from `running N tests` to its result; what stands between them names the next one."""
    file, target = "", None
    for line in lines:
        if target is not None and not target.is_over:
            target.take(line)
        elif match := _TARGET.match(line) or _DOC.match(line):
            file = match.groupdict().get("file") or ""
        elif match := _RUNNING.match(line):
            target = _Target(file, int(match["count"]))
            yield target


def _case(name: str, file: str, workspace: Path) -> Case:
    match = _DOC_TEST.match(name)
    *modules, last = (match["name"] if match else name).split("::")
    return Case(tuple(modules), last, match["file"] if match else _file_of(modules, file, workspace))


def _file_of(modules: list[str], file: str, workspace: Path) -> str:
    """The file of a module below the target's own, where there is one; in a workspace, the one member's that has it."""
    root = _source_path(file, workspace)
    folder = root.rpartition("/")[0]
    for length in range(len(modules), 0, -1):
        inside = "/".join(filter(None, (folder, *modules[:length])))
        for path in (f"{inside}.rs", f"{inside}/mod.rs"):
            if (workspace / path).is_file():
                return path
    return root


def _source_path(file: str, workspace: Path) -> str:
    if not file or (workspace / file).is_file():
        return file
    elsewhere = [path for pattern in (f"*/{file}", f"*/*/{file}") for path in workspace.glob(pattern)]
    return elsewhere[0].relative_to(workspace).as_posix() if len(elsewhere) == 1 else file


def _message(text: str) -> str:
    """The line of the panic that says why: the one below its place."""
    lines = text.split("\n")
    at = next((n for n, line in enumerate(lines) if _PANICKED.match(line)), None)
    if at is None:
        return next((line for line in lines if line.strip()), "")
    return lines[at + 1] if at + 1 < len(lines) else lines[at]
