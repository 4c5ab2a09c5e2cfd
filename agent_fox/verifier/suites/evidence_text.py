"""What a coder is shown of a failure: assertion lines, places, the first error. Runs nothing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex

if TYPE_CHECKING:
    from agent_fox.verifier.ground.cases import Case
    from agent_fox.verifier.suites.suite import Broken, SuiteRun

LONGEST_EVIDENCE = 1_500  # characters
LONGEST_HEAD = 400
CASES_SHOWN = 3

_ERROR = regex(r"^(?:[\w.]*(?:Error|Exception|Failure|Warning|Exit|Interrupt)|[\w.]+\.[A-Z]\w+)\b")
_TELLING = regex(r"^(?:E |>|\S+:\d+: )")
_FRAME = regex(r"^\s+at \S")  # of a trace below the error
_LINES_SHOWN = 12
_CONTROL = regex(r"\x1b\[[0-9;?]*[ -/]*[@-~]|[\x00-\x08\x0b-\x1f\x7f]")


def evidence_of(cases: Iterable[Case]) -> str:
    """The failing tests by name, each with its assertion lines; as many as there is room for."""
    failed = list(cases)
    shown = [f"{case.id}\n{_telling(case.text or case.message)}" for case in failed[:CASES_SHOWN]]
    more = [f"... and {len(failed) - CASES_SHOWN} more"] if len(failed) > CASES_SHOWN else []
    room = (LONGEST_EVIDENCE - LONGEST_HEAD) // max(1, len(shown)) - 30
    return capped("\n".join([*(_clip(part, room) for part in shown), *more]))


def evidence_of_broken(broken: Broken) -> str:
    """What is broken, and the lines that show it."""
    return capped(f"{broken.what}\n{_telling(broken.text)}".rstrip())


def headed(run: SuiteRun, error: str, body: str) -> str:
    """Evidence under its first line: the command, its exit code, the first error, and where the whole log is kept."""
    outcome = f"exit {run.exit_code}"
    ended = "" if run.exit_code is None or outcome in error else f" ({outcome})"
    kept = f"\nlog: {run.log}" if run.log else ""
    head = _clip(f"`{run.line}`{ended}: {error}", LONGEST_HEAD - len(kept)) + kept
    return capped(f"{head}\n{body}".rstrip())


def first_error(case: Case) -> str:
    """The line that names the error: pytest's own (`E   ...`) first, else the first that looks like one."""
    text = f"{case.message}\n{case.text}"
    return _error_line(text) or text.strip().partition("\n")[0]


def first_error_of_broken(broken: Broken) -> str:
    """The line that names the error, or what is broken where no line does."""
    return broken.error or _error_line(broken.text) or broken.what


def capped(text: str) -> str:
    """Without control characters, and not longer than evidence may be."""
    return _clip(_CONTROL.sub("", text), LONGEST_EVIDENCE)


def _clip(text: str, room: int) -> str:
    return text if len(text) <= room else text[: room - 4].rstrip() + " ..."


def _telling(text: str) -> str:
    lines = text.splitlines()
    telling = [line for line in lines if _TELLING.match(line)]
    if telling or not _ERROR.match(_CONTROL.sub("", text).lstrip()):
        return "\n".join(telling or lines[-_LINES_SHOWN:])
    return "\n".join([line for line in lines if not _FRAME.match(line)][:_LINES_SHOWN])


def _error_line(text: str) -> str:
    lines = [line.strip() for line in _CONTROL.sub("", text).splitlines() if line.strip()]
    marked = [line[1:].strip() for line in lines if line.startswith("E ")]
    named = [line for line in marked or lines if _ERROR.match(line)]
    return next(iter(named or marked), "")
