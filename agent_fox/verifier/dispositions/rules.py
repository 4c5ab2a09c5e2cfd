"""Who can do something about a failure, decided by recorded evidence alone. No I/O, no model, no output of tests.

The rules stand in `_RULES`, strongest first. Where facts disagree, nobody is charged: infrastructure, environment and
verifier faults leave a requirement unknown. Only reruns excuse a failure (`docs/semantics.md`, "Judging").
"""

from __future__ import annotations

import signal
from collections.abc import Callable

from agent_fox.core.regex import regex
from agent_fox.core.verdicts.verdict import Disposition
from agent_fox.verifier.dispositions.parts import missing_beneath_test, missing_part
from agent_fox.verifier.dispositions.signs import (
    DISK_FULL,
    HEAP,
    KILLED,
    MISSING_TOOL,
    NO_SUCH_IMPORT,
    OF_DEPENDENCIES,
    OF_OTHERS,
    READ_ONLY,
    TOOL_BROKE,
    TRY_AGAIN,
    UNKNOWN_FLAG,
    Sign,
    resolver_sign,
    sign_of,
)
from agent_fox.verifier.dispositions.weighing import (
    build_files,
    changes_build,
    ended_from_outside,
    environment,
    infrastructure,
    names_changed_file,
    past_limit,
    repairable,
    verifier_fault,
    weighed,
)
from agent_fox.verifier.ground.disposition_facts import FailureFacts, RerunTree, SpecSource
from agent_fox.verifier.ground.results import Disposed, FailureKind, Tool
from agent_fox.verifier.logs.status import CANNOT_EXECUTE, NO_TESTS_RAN, NOT_FOUND, SIGNAL_BASE

INDEPENDENT_READINGS = 2
"""So many sessions have to find the spec at fault, each for itself, where neither lint nor a person says so."""

_Rule = Callable[[FailureFacts], Disposed | None]

_ENDED_FROM_OUTSIDE = {signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP}
_CRASHED = {signal.SIGABRT, signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL}
_STYLE = {FailureKind.LINT_FAILURE, FailureKind.FORMAT_FAILURE}
_NOTHING_DONE = {FailureKind.ENVIRONMENT_FAILURE, FailureKind.DEPENDENCY_RESOLUTION_FAILURE}
_ABSENT_TEST = regex(rf"{NO_TESTS_RAN}|(?:file or directory )?not found: ")
_NEVER_ENDED = "how it ended is not known"


def dispose(facts: FailureFacts) -> Disposed:
    """Why it failed, and who can do something about it. Total and deterministic."""
    return next(disposed for rule in _RULES if (disposed := rule(facts)))


def _source_changed(facts: FailureFacts) -> Disposed | None:
    """A tool that may not write did: its result is of no tree that anybody asked about."""
    if not facts.changed_sources or facts.tool.may_change_source:
        return None
    reason = f"{facts.tool} changed source: {', '.join(facts.changed_sources[:5])}"
    if facts.base_changes_sources is False:
        reason = f"{reason}; it does not on the base tree"
        return Disposed(Disposition.POLICY, reason, repairable_by_agent=True)
    return Disposed(Disposition.POLICY, reason, requires_human=True)


def _gamed(facts: FailureFacts) -> Disposed | None:
    if not facts.policy:
        return None
    worst = next((doubt for doubt in facts.policy if doubt.needs_person), facts.policy[0])
    reason = f"{worst.rule}: {worst.message}"
    return Disposed(
        Disposition.POLICY, reason, repairable_by_agent=not worst.needs_person, requires_human=worst.needs_person
    )


def _spec_is_at_fault(facts: FailureFacts) -> Disposed | None:
    sure = next((doubt for doubt in facts.spec if doubt.source is not SpecSource.READING), None)
    if sure:
        return Disposed(Disposition.SPEC_FAULT, f"{sure.source}: {sure.message}", requires_human=True)
    readings = {doubt.reading for doubt in facts.spec if doubt.reading}
    if len(readings) < INDEPENDENT_READINGS:
        return None
    reason = f"{len(readings)} independent readings: {facts.spec[0].message}"
    return Disposed(Disposition.SPEC_FAULT, reason, requires_human=True)


def _never_ran(facts: FailureFacts) -> Disposed | None:
    error = facts.end.start_error
    if facts.end.cancelled:
        return infrastructure("it was cancelled")
    if not error:
        return None
    if sign := sign_of([error], (DISK_FULL, TRY_AGAIN)):
        return infrastructure(f"{sign.name}: {error}")
    if names_changed_file(error, facts.files_changed):
        return repairable(f"the change made it impossible to start: {error}")
    return environment(f"it could not be started: {error}")


def _test_proven_otherwise(facts: FailureFacts) -> Disposed | None:
    """A named test, or a finding of a linter: the reruns of just that decide."""
    if facts.failure.test_name is not None and facts.is_proven_flaky:
        runs = len(facts.outcomes(RerunTree.SAME))
        return Disposed(Disposition.FLAKY, f"{runs} of {runs} reruns on the same tree passed", is_proven=True)
    return _older_than_change(facts) if facts.is_named_test or facts.failure.kind in _STYLE else None


def _older_than_change(facts: FailureFacts) -> Disposed | None:
    if not facts.fails_on_base or facts.is_own_test or facts.keeps_own_tests:
        return None
    return Disposed(Disposition.PRE_EXISTING, "it fails on the base tree too", is_proven=True)


def _past_a_limit(facts: FailureFacts) -> Disposed | None:
    if facts.end.out_of_memory:
        return past_limit(facts, "it went past the memory limit")
    if facts.end.process_limit_hit:
        return past_limit(facts, "it went past the limit of processes")
    is_unread = facts.end.timed_out and facts.failure.kind is FailureKind.UNKNOWN
    is_late = is_unread or facts.failure.kind is FailureKind.TIMEOUT
    return past_limit(facts, "it ran out of time") if is_late else None


def _tool_broke(facts: FailureFacts) -> Disposed | None:
    failure = facts.failure
    if failure.test_name is not None:
        return None
    lines = [failure.message] if failure.kind is FailureKind.TEST_FAILURE else own_lines(facts)
    sign = sign_of(lines, (TOOL_BROKE,))
    return weighed(sign, facts) if sign else None


def _never_began(facts: FailureFacts) -> Disposed | None:
    """A test that its runner could not begin, for want of something the project asks for."""
    is_test = facts.failure.kind is FailureKind.TEST_FAILURE
    part = missing_beneath_test(facts) if is_test and not facts.passes_on_base else None
    return environment(f"{part} is asked for and not installed") if part else None


def _failing_test(facts: FailureFacts) -> Disposed | None:
    """What a test says, raises or prints is the code's affair, whatever it sounds like."""
    failure = facts.failure
    if failure.kind is not FailureKind.TEST_FAILURE:
        return None
    if failure.test_name is None and (sign := _sign_of_runner(facts)):
        return weighed(sign, facts)
    outcomes = facts.outcomes(RerunTree.SAME)
    unproven = f"; {outcomes.count(True)} of {len(outcomes)} reruns passed, which proves nothing" if outcomes else ""
    return _older_than_change(facts) or repairable(f"a test fails{unproven if True in outcomes else ''}")


def _sign_of_runner(facts: FailureFacts) -> Sign | None:
    """What a test runner that names no test says of its own end."""
    ended = sign_of([facts.failure.message], (KILLED, HEAP, TRY_AGAIN))
    return ended or sign_of(facts.tail.splitlines(), (UNKNOWN_FLAG,))


def _missing_part(facts: FailureFacts) -> Disposed | None:
    part = missing_part(facts)
    if part is None or facts.passes_on_base:
        return None
    return environment(f"{part} is asked for and not installed")


def _code_style(facts: FailureFacts) -> Disposed | None:
    failure = facts.failure
    if failure.kind is FailureKind.FORMAT_FAILURE:
        return repairable("it is not formatted, which the formatter repairs")
    is_about_code = failure.kind is FailureKind.LINT_FAILURE and failure.line is not None
    return repairable("a linter objects to the code") if is_about_code else None


def _raised_by_change(facts: FailureFacts) -> Disposed | None:
    """However it sounds: what edited code runs into each time, and never without the edit, is the edit's."""
    is_shown = facts.comes_again and facts.passes_on_base
    if not is_shown or facts.failure.file not in facts.files_changed:
        return None
    return repairable("it comes from a file that the change edited, again, and not on the base tree")


def _signed(facts: FailureFacts) -> Disposed | None:
    """What the tool's own lines say; those of a compiler that points at the code are about the code."""
    sign = sign_in(facts)
    if sign is None:
        return None
    is_about_project = sign.disposition is Disposition.REPAIRABLE
    return (_older_than_change(facts) if is_about_project else None) or weighed(sign, facts)


def _does_not_build(facts: FailureFacts) -> Disposed | None:
    """A compiler that points at the code is right, however the command ended."""
    if facts.failure.kind is not FailureKind.COMPILE_ERROR or facts.failure.line is None:
        return None
    return _older_than_change(facts) or repairable("it does not build")


def _ended_badly(facts: FailureFacts) -> Disposed | None:
    """What the exit status alone shows."""
    code = facts.end.exit_code
    if code is None:
        return infrastructure(_NEVER_ENDED) if facts.failure.message == _NEVER_ENDED else None
    if code in (CANNOT_EXECUTE, NOT_FOUND):
        return weighed(MISSING_TOOL, facts)
    if code == 0 and not facts.end.is_report_readable:
        return verifier_fault("it ended well, but its report cannot be read")
    number = -code if code < 0 else code - SIGNAL_BASE
    if number in _ENDED_FROM_OUTSIDE:
        return ended_from_outside(facts, f"it was ended from outside by signal {number}")
    if number in _CRASHED and facts.failure.kind is not FailureKind.COMPILE_ERROR:
        return repairable(f"it crashed (signal {number})") if facts.tool.runs_tests else environment("the tool crashed")
    return None


def _older_trouble(facts: FailureFacts) -> Disposed | None:
    """The same failure on the base tree. A tool that cannot work there either excuses nothing."""
    return None if facts.failure.kind in _NOTHING_DONE else _older_than_change(facts)


def _absent_test(facts: FailureFacts) -> Disposed | None:
    """No test ran: the change's affair where tests of the requirement were to be there, or were on the base tree."""
    if facts.failure.kind is not FailureKind.UNKNOWN or not _ABSENT_TEST.match(facts.failure.message):
        return None
    if facts.own_tests or facts.tool is Tool.SELECTED_TEST or facts.passes_on_base:
        return repairable("tests that should be there were not found")
    return verifier_fault("no test was found, and none is known to be there")


def _by_kind(facts: FailureFacts) -> Disposed:
    match facts.failure.kind:
        case FailureKind.COMPILE_ERROR:
            return repairable("it does not build")
        case FailureKind.LINT_FAILURE:
            return repairable("a linter objects")
        case FailureKind.DEPENDENCY_RESOLUTION_FAILURE if changes_build(facts.files_changed) and facts.has_network:
            return repairable("packages cannot be found or fitted together, and the change edited a build file")
        case FailureKind.DEPENDENCY_RESOLUTION_FAILURE:
            return environment("packages cannot be found or fitted together")
        case FailureKind.ENVIRONMENT_FAILURE:
            return weighed(MISSING_TOOL, facts)
    return _unexplained(facts)


def _unexplained(facts: FailureFacts) -> Disposed:
    """Nothing could be read from it: reruns, or a file of the change that the tool names, can tell."""
    if facts.comes_again and facts.passes_on_base:
        return repairable("it fails again on the same tree, and not on the base tree")
    failure = facts.failure
    is_named = names_changed_file(failure.message, facts.files_changed)
    if failure.file in facts.files_changed or is_named or _stumbles_over_build_file(facts):
        return repairable("the tool stumbles over a file that the change edited")
    if changes_build(facts.files_changed) and facts.passes_on_base:
        return repairable("the change edited a build file, and the base tree passes")
    return verifier_fault("nothing in the log or the reports says why it failed")


def _stumbles_over_build_file(facts: FailureFacts) -> bool:
    return names_changed_file("\n".join(tool_lines(facts)), build_files(facts.files_changed))


_RULES: tuple[_Rule, ...] = (
    _source_changed,
    _gamed,
    _spec_is_at_fault,
    _never_ran,
    _test_proven_otherwise,
    _past_a_limit,
    _tool_broke,
    _never_began,
    _failing_test,
    _missing_part,
    _code_style,
    _absent_test,
    _raised_by_change,
    _signed,
    _does_not_build,
    _ended_badly,
    _older_trouble,
    _by_kind,
)


_OUTPUT = regex(r"error while writing |(?:cannot|can't|could not|unable to) write ")


def sign_in(facts: FailureFacts) -> Sign | None:
    """The sign that the tool's own lines bear."""
    failure = facts.failure
    lines = tool_lines(facts)
    if failure.kind is FailureKind.DEPENDENCY_RESOLUTION_FAILURE:
        is_own = failure.line is not None and not (failure.file or "").startswith("/")
        return sign_of([failure.code or "", *lines], (*OF_DEPENDENCIES, NO_SUCH_IMPORT) if is_own else OF_DEPENDENCIES)
    if failure.line is not None and failure.kind is FailureKind.COMPILE_ERROR:
        is_code = not changes_build([failure.file or ""])
        return _sign_beside_code(facts) if is_code else sign_of([failure.message], OF_OTHERS)
    return sign_of(lines, OF_OTHERS) or resolver_sign(lines)


def _sign_beside_code(facts: FailureFacts) -> Sign | None:
    """A compiler points at the code: only what it says of its own output or version speaks for the code."""
    if _OUTPUT.match(facts.failure.message):
        return sign_of([facts.failure.message], (DISK_FULL, READ_ONLY, MISSING_TOOL))
    notes = [line for line in facts.tail.splitlines() if line.startswith("note: module requires Go")]
    return sign_of(notes, OF_OTHERS)


def tool_lines(facts: FailureFacts) -> list[str]:
    """The failure's own lines, and the log's last ones where no test has run that could have written them."""
    tail = "" if facts.end.tests_run else facts.tail
    return [*own_lines(facts), *tail.splitlines()]


def own_lines(facts: FailureFacts) -> list[str]:
    """The lines of the failure itself."""
    return [*facts.failure.message.splitlines(), *facts.failure.evidence.splitlines()]
