"""What an agent's session came to, by what was seen of it: never by what the program says of its own success.

And the answer that a judging session leaves, with whether anybody can read it.
"""

from __future__ import annotations

import json
import re
import signal
from typing import TYPE_CHECKING

from agent_fox.core.markdown import one_line
from agent_fox.core.regex import regex
from agent_fox.core.values import dataclass
from agent_fox.core.verdicts.answer import read_report
from agent_fox.core.verdicts.findings import read_review
from agent_fox.session.agents.report import Ending
from agent_fox.session.agents.runner.watchdog import Cause, Stop
from agent_fox.session.agents.signatures import is_too_long, says_too_long
from agent_fox.session.agents.task import Role
from agent_fox.session.infrastructure import Infrastructure, recognise

if TYPE_CHECKING:
    from agent_fox.session.agents.events import Finished
    from agent_fox.session.agents.runner.tally import Tally

LONGEST_REASON = 400
"""Characters of a program's own words that a reason quotes."""

SANDBOX_FAILED, SANDBOX_SAYS, SANDBOX_RUNS = 1, "bwrap: ", "bwrap: execvp "
"""How bubblewrap ends where it cannot begin, and what stands before its words, the last where it runs the program."""

FROM_OUTSIDE = frozenset({signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP})
"""Signals that end a program which has nothing wrong with it."""

SAYS_WHY = regex(r"\b(?:\w*(?:error|exception|fatal): ?\S|no such |not found|cannot |unknown )", re.IGNORECASE)
"""What the line holds that says why a program died; a last line may be a hint, a version or a frame."""

FRAME = "│╭╮╰╯─┌┐└┘ "
"""What Python programs draw around their errors."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How it ended, and why in words for people. `infrastructure` is set with that ending only."""

    ending: Ending
    reason: str
    infrastructure: Infrastructure | None = None


def outcome_of(
    tally: Tally, stop: Stop | None, exit_status: int | None, complaints: str, *, has_asked: bool = True
) -> Outcome:
    """Name the end: why we stopped it if we did, then what the model's side failed with, then the program's own end.

    exit_status: of its last process, negative for a signal. complaints: the last lines of its standard error.
    has_asked: whether anything was heard of a request to the model; a program that died before one has done no work.
    """
    if stop is not None:
        return _stopped(stop, tally)
    finished = tally.finished
    if exit_status == 0 and finished is not None and not finished.is_error:
        return Outcome(Ending.ENDED, finished.reason or "ended")
    failed = _failed(tally, exit_status, complaints)
    if has_asked or failed.ending is not Ending.FAILED or exit_status is None:
        return failed
    kind = Infrastructure.LOST if -exit_status in FROM_OUTSIDE else Infrastructure.BROKEN_PROGRAM
    reason = f"before its first request to the model: {failed.reason}"
    return Outcome(Ending.INFRASTRUCTURE, one_line(reason, LONGEST_REASON), kind)


ENDINGS = {Cause.ASKED: Ending.STOPPED, Cause.RUN_COST: Ending.CEILING, Cause.WALL: Ending.TIMED_OUT}
"""How a session ended that we have ended; where nothing is broken, any other cause is a failure."""


def _stopped(stop: Stop, tally: Tally) -> Outcome:
    known = tally.trouble.kind if tally.trouble else None
    broken = {
        Cause.TOOLS: Infrastructure.WORKSPACE,
        Cause.SILENCE: known or Infrastructure.NETWORK,
        Cause.HOPELESS: known or Infrastructure.AUTHENTICATION,
        Cause.BROKEN: tally.broken.kind if tally.broken is not None else None,
    }
    if (kind := broken.get(stop.cause)) is not None:
        return Outcome(Ending.INFRASTRUCTURE, stop.reason, kind)
    return Outcome(ENDINGS.get(stop.cause, Ending.FAILED), stop.reason)


def _failed(tally: Tally, exit_status: int | None, complaints: str) -> Outcome:
    reason = _words(tally.finished, exit_status, complaints)
    trouble = tally.trouble
    if trouble is not None and trouble.kind is not None:
        return Outcome(Ending.INFRASTRUCTURE, one_line(trouble.text, LONGEST_REASON), trouble.kind)
    last = tally.finished
    is_long = says_too_long(complaints, *((last.reason, last.text) if last is not None else ()))
    if trouble is not None:
        is_long = trouble.is_too_long or is_too_long(None, trouble.text)
    if is_long:  # its last request did not fit into the model's context
        return Outcome(Ending.TOO_LONG, one_line(trouble.text, LONGEST_REASON) if trouble else reason)
    kind = recognise(exit_status, complaints)
    is_unheard = not (tally.session or tally.turns)
    if kind is None and exit_status == SANDBOX_FAILED and is_unheard and complaints.startswith(SANDBOX_SAYS):
        runs = complaints.startswith(SANDBOX_RUNS)  # the sandbox failed, before its program has said a word
        kind = Infrastructure.MISSING_BINARY if runs else Infrastructure.WORKSPACE
    return Outcome(Ending.INFRASTRUCTURE if kind else Ending.FAILED, reason, kind)


def _words(finished: Finished | None, exit_status: int | None, complaints: str) -> str:
    how = "ended" if exit_status == 0 else f"exit {exit_status}"
    if exit_status is not None and exit_status < 0:
        how = f"killed by signal {-exit_status}"
    if finished is None:
        last = telling(complaints)
        return one_line(f"{how} without a last word{f': {last}' if last else ''}", LONGEST_REASON)
    words = ": ".join(filter(None, dict.fromkeys((finished.reason, finished.text))))
    return one_line(f"{how}, with an error: {words or 'none given'}", LONGEST_REASON)


def telling(complaints: str) -> str:
    """The last line that says why, else the last one; empty where there is none."""
    lines = [bare for line in complaints.splitlines() if (bare := line.strip(FRAME))] or [""]
    return next((line for line in reversed(lines) if SAYS_WHY.search(line)), lines[-1])


def answer_of(tally: Tally) -> str:
    """The structured answer if the program gave one, else its last words."""
    finished = tally.finished
    if finished is not None and finished.structured is not None:
        return json.dumps(finished.structured, ensure_ascii=False)
    return (finished.text if finished is not None else "") or tally.words


def why_unreadable(role: Role, answer: str) -> str:
    """Why nobody can read it; empty where somebody can, and for a coder, whose answer is its work."""
    match role:
        case Role.VERIFIER:
            report = read_report(answer, {})
            return "" if report.is_readable else "; ".join(report.notes) or "no verdicts in it"
        case Role.REVIEWER:
            return "" if read_review(answer).is_readable else "no findings in it"
    return ""
