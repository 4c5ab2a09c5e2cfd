"""What a session's end is called: the shim's record, the output and the workspace, read into one SessionEnd.

Also keeps the session's log, redacted. What follows from an end is the engine's business.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import IO

from agent_fox.core.ids import digest_of
from agent_fox.core.trace import Trace
from agent_fox.session.agent_end import AgentEnd, agent_end
from agent_fox.session.agents.registry import is_watched
from agent_fox.session.agents.runner.trace import trace_beside, transcript_beside
from agent_fox.session.agents.signatures import says_too_long
from agent_fox.session.agents.traces import trace_of, transcript_of
from agent_fox.session.gates.close_out import Judging, close_out
from agent_fox.session.gates.format import formatted
from agent_fox.session.infrastructure import LAST_LINES, Infrastructure, recognise
from agent_fox.session.order import EndKind, LaunchOrder, Paths, SessionEnd, StopSignal, brief_beside
from agent_fox.session.result import Result, read_result
from agent_fox.session.workspaces.cut_off import with_kept
from agent_fox.session.workspaces.snapshot import Refused, changed_source, take_work
from agent_fox.session.workspaces.workspace import WorkspaceError, read_preparation
from agent_fox.system import git
from agent_fox.system.files import last_lines, pieces
from agent_fox.system.processes import OUTPUT_LIMIT, ProcessEnd
from agent_fox.system.redaction.masking import Redactor, redact, secret_values

LOG_ROOM = 4096
"""Bytes that a captured stream may be longer than its limit: the line that tells what was left out."""

NAMED_PATHS = 10
"""How many changed files a reason names."""

WITHOUT_MODEL = frozenset({"checks", "library", "scripted"})
UNANSWERED = "it ended with a question, and nobody answers"
GIT_GONE = "its workspace's .git is gone; its work was taken from the files"
LONGEST_QUOTE = 300
"""Characters of a session's last words that a reason quotes."""


def interrupted_end(order: LaunchOrder, seconds: float = 0.0) -> SessionEnd:
    return SessionEnd(EndKind.INTERRUPTED, "stopped by us", order.log, seconds=seconds)


def infrastructure_end(
    order: LaunchOrder, what: Infrastructure, reason: str, environment: Mapping[str, str]
) -> SessionEnd:
    """The end of a session that our side of the world failed."""
    shown_reason = redact(reason, secret_values(environment))
    return SessionEnd(EndKind.INFRASTRUCTURE, shown_reason, order.log, infrastructure=what)


def end_of(order: LaunchOrder, end: ProcessEnd, environment: Mapping[str, str], stop: StopSignal) -> SessionEnd:
    """Name the end, take a coder's work, and keep the log. Raises GitError or OSError where our own side
    fails. Where `stop` is set before a coder's work is judged, the end is an interruption.
    """
    secrets = secret_values(environment)
    _keep_log(order, end, secrets)
    agent = agent_end(Paths(order.state))
    result = agent.result if agent else read_result(Paths(order.state).result)
    judging = Judging(secrets, stop)
    if end.stopped:
        bare = interrupted_end(order, end.seconds)
    else:
        bare = _of_agent(order, end, agent, judging) if agent else _named(order, end, result, judging)
    bare = with_trace(order, with_kept(order, bare, end.ended_at), secrets, end.ended_at)
    if agent:
        bare = replace(bare, notes=(*agent.notes, *bare.notes))
    return _filled(bare, order, end, result, secrets)


UNCOUNTED = frozenset({EndKind.INTERRUPTED, EndKind.INFRASTRUCTURE, EndKind.CEILING})
"""Ends of launches that are made again: what such a one did is no attempt's doing."""


def with_trace(order: LaunchOrder, end: SessionEnd, secrets: tuple[str, ...], at: int) -> SessionEnd:
    """The end with a coder's trace, which tells why where there is none. `at` (seconds since the epoch) dates the
    commits of its states.
    """
    if not order.writes or end.kind in UNCOUNTED:
        return end
    try:
        kept = git.tree_of(order.repo, end.kept.commit) if end.kept and end.kept.commit else ""
        work = end.work.tree if end.work else kept
        return replace(end, trace=trace_of(order, read_preparation(order), work, secrets, at))
    except (git.GitError, WorkspaceError, OSError) as error:
        return replace(end, trace=Trace(left_out={f"all of it, for it could not be read: {error}": 1}))


def _of_agent(order: LaunchOrder, end: ProcessEnd, agent: AgentEnd, judging: Judging) -> SessionEnd:
    """What the runner reports, except for the work itself, which is judged by its files."""
    if end.timed_out:
        return _plain(order, EndKind.TIMED_OUT, f"did not end within {order.agent.timeout:g} s")
    if agent.kind is EndKind.INTERRUPTED:  # not by us: that has been looked at before
        return _plain(order, EndKind.INFRASTRUCTURE, "ended by a signal from outside", Infrastructure.LOST)
    if agent.kind is EndKind.ENDED and end.exit_status == 0:
        return _coder_ended(order, end, agent.result, judging) if order.writes else _reader_ended(order, end)
    if agent.kind is EndKind.ENDED:
        return _plain(order, EndKind.INFRASTRUCTURE, "the session's runner failed after its end", Infrastructure.LOST)
    if agent.infrastructure is Infrastructure.LOST and end.signal is None:
        reason = f"the session's runner failed: {_last_words(order)}"
        return _plain(order, EndKind.INFRASTRUCTURE, reason, Infrastructure.LOST)
    return replace(_plain(order, agent.kind, agent.reason, agent.infrastructure), retry_after=agent.retry_after)


def _last_words(order: LaunchOrder) -> str:
    lines = last_lines(Paths(order.state).session / "stderr", 1)
    return (lines or ["it said nothing"])[-1].strip()[:LONGEST_QUOTE]


def _named(order: LaunchOrder, end: ProcessEnd, result: Result, judging: Judging) -> SessionEnd:
    if end.start_error:
        reason = f"{order.agent.backend} could not be started: {end.start_error}"
        return _plain(order, EndKind.INFRASTRUCTURE, reason, Infrastructure.MISSING_BINARY)
    if end.timed_out:
        return _plain(order, EndKind.TIMED_OUT, f"did not end within {order.agent.timeout:g} s")
    if end.exit_status != 0:
        return _failed(order, end)
    return _coder_ended(order, end, result, judging) if order.writes else _reader_ended(order, end)


def _plain(order: LaunchOrder, kind: EndKind, reason: str, what: Infrastructure | None = None) -> SessionEnd:
    return SessionEnd(kind, reason, order.log, infrastructure=what)


def _failed(order: LaunchOrder, end: ProcessEnd) -> SessionEnd:
    folder = Paths(order.state).session
    stdout, stderr = (last_lines(folder / name, LAST_LINES) for name in ("stdout", "stderr"))
    how = f"exit {end.exit_status}" if end.signal is None else f"killed by signal {end.signal}"
    words = (stderr or stdout or [""])[-1].strip()[:LONGEST_QUOTE]
    reason = f"{how}: {words}" if words else how
    what = recognise(end.exit_status, "\n".join(stderr), "\n".join(stdout))
    if what is None and says_too_long("\n".join(stderr), "\n".join(stdout)):
        return _plain(order, EndKind.TOO_LONG, reason)
    return _plain(order, EndKind.INFRASTRUCTURE if what else EndKind.FAILED, reason, what)


def _coder_ended(order: LaunchOrder, end: ProcessEnd, result: Result, judging: Judging) -> SessionEnd:
    formatting = formatted(order)
    taken = take_work(order, read_preparation(order), end.ended_at)
    if isinstance(taken, Refused):
        return _plain(order, EndKind.REFUSED, taken.reason)
    gate = close_out(order, taken, result.summary, judging)
    if gate is None:
        return interrupted_end(order, end.seconds)
    if gate.refusal:
        return replace(_plain(order, EndKind.REFUSED, gate.refusal), closed=gate.closed)
    reason = "ended, nothing changed" if taken.is_unchanged else "ended"
    asked = (UNANSWERED,) if taken.is_unchanged and result.summary.rstrip().endswith("?") else ()
    notes = formatting + taken.notes + gate.notes + asked + _without_git(order)
    return SessionEnd(EndKind.ENDED, reason, order.log, work=taken, notes=notes, closed=gate.closed)


def _without_git(order: LaunchOrder) -> tuple[str, ...]:
    """Work is taken from the files, so nothing is lost; but a person should know."""
    return () if (Paths(order.state).workspace / ".git").is_dir() else (GIT_GONE,)


def _reader_ended(order: LaunchOrder, end: ProcessEnd) -> SessionEnd:
    changed = changed_source(order, read_preparation(order))
    if changed:
        more = f" and {len(changed) - NAMED_PATHS} more" if len(changed) > NAMED_PATHS else ""
        named = ", ".join(changed[:NAMED_PATHS]) + more
        return _plain(order, EndKind.SOURCE_CHANGED, f"changed tracked files: {named}")
    if end.stdout_left_out:
        reason = f"printed {end.stdout_bytes} bytes; {OUTPUT_LIMIT} are read"
        return _plain(order, EndKind.TOO_LOUD, reason)
    return _plain(order, EndKind.ENDED, "ended")


def _filled(
    bare: SessionEnd, order: LaunchOrder, end: ProcessEnd, result: Result, secrets: tuple[str, ...]
) -> SessionEnd:
    """The end with what it cost, what it said, and what was noted about its work: the summary is what people read."""
    lost_output = (f"output could not be kept: {end.write_error}",) if end.write_error else ()
    return SessionEnd(
        kind=bare.kind,
        reason=redact(bare.reason, secrets),
        log=order.log,
        exit_status=end.exit_status,
        output="" if order.writes else _output(order, secrets),
        cost_usd=result.cost_usd,
        input_tokens=result.input_tokens,
        output_tokens=result.output_tokens,
        summary=redact("; ".join(filter(None, (result.summary, *bare.notes))), secrets),
        work=bare.work,
        seconds=end.seconds,
        infrastructure=bare.infrastructure,
        notes=result.notes + lost_output + bare.notes,
        agents=(_who(order, result) | transcript_kept(order, secrets),),
        retry_after=bare.retry_after,
        closed=bare.closed,
        kept=bare.kept and replace(bare.kept, left_out=tuple(redact(text, secrets) for text in bare.kept.left_out)),
        trace=bare.trace,
    )


def _who(order: LaunchOrder, result: Result) -> dict[str, object]:
    model = "" if order.agent.backend in WITHOUT_MODEL else order.agent.model
    return {"backend": order.agent.backend, "model": model} | dict(result.agent)


def transcript_kept(order: LaunchOrder, secrets: tuple[str, ...]) -> dict[str, object]:
    """The transcript beside the log, where one is kept; its digest is recorded with who worked."""
    kept = transcript_beside(order.log)
    kept.unlink(missing_ok=True)
    text = transcript_of(order, secrets) if is_watched(order.agent.backend, order.agent.like) else ""
    if not text:
        return {}
    with _renamed_to(kept, order.launch) as file:
        file.write(text)
    return {"transcript": digest_of(text)}


def _output(order: LaunchOrder, secrets: tuple[str, ...]) -> str:
    raw = b"".join(pieces(Paths(order.state).session / "stdout", OUTPUT_LIMIT + LOG_ROOM))
    return redact(raw.decode("utf-8", "replace"), secrets)


def _keep_log(order: LaunchOrder, end: ProcessEnd, secrets: tuple[str, ...]) -> None:
    """Both streams in one file, redacted; beside it what our own runner recorded of its tools, and a kept brief."""
    paths = Paths(order.state)
    order.log.parent.mkdir(parents=True, exist_ok=True)
    with _renamed_to(order.log, order.launch) as log:
        for name, count in (("stdout", end.stdout_bytes), ("stderr", end.stderr_bytes)):
            log.write(f"--- {name}, {count} bytes\n")
            _copy_redacted(paths.session / name, log, secrets)
    is_ours = is_watched(order.agent.backend, order.agent.like)
    _keep_beside(order, paths.events, trace_beside(order.log), secrets, is_kept=is_ours)
    _keep_beside(order, paths.brief, brief_beside(order.log), secrets, is_kept=order.keeps_brief)


def _keep_beside(order: LaunchOrder, source: Path, kept: Path, secrets: tuple[str, ...], *, is_kept: bool) -> None:
    """A file of the launch beside its log, redacted; that of an earlier launch does not stand for this one."""
    kept.unlink(missing_ok=True)
    if is_kept and source.is_file() and not source.is_symlink():
        with _renamed_to(kept, order.launch) as copy:
            _copy_redacted(source, copy, secrets)


@contextmanager
def _renamed_to(kept: Path, launch: str) -> Iterator[IO[str]]:
    """Written beside and renamed, so that no reader sees half of it. The file beside bears the launch's name: who ends
    a launch again, after a sudden death, takes it over, and none is left behind.
    """
    unfinished = kept.with_name(f"{kept.name}.{launch}.part")
    with unfinished.open("w", encoding="utf-8") as file:
        yield file
    unfinished.replace(kept)


def _copy_redacted(source: Path, log: IO[str], secrets: tuple[str, ...]) -> None:
    redactor, decoder = Redactor(secrets), codecs.getincrementaldecoder("utf-8")("replace")
    for piece in pieces(source, OUTPUT_LIMIT + LOG_ROOM):
        log.write(redactor.feed(decoder.decode(piece)))
    rest = redactor.feed(decoder.decode(b"", final=True)) + redactor.close()
    log.write(f"{rest}\n" if rest else "")
