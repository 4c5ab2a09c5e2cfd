"""The whole policy check of one change: pure, bounded, and never clean where it could not look."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from agent_fox.verifier.policy.comments import findings_about_comments
from agent_fox.verifier.policy.counts import findings_about_counts
from agent_fox.verifier.policy.failures import broken
from agent_fox.verifier.policy.file_rules import findings_about_files
from agent_fox.verifier.policy.gathering import SourceChange, sources_of, tests_of
from agent_fox.verifier.policy.hooks import findings_about_hooks
from agent_fox.verifier.policy.line_rules import findings_about_lines
from agent_fox.verifier.policy.lines import LARGEST_TEXT, text_changes
from agent_fox.verifier.policy.matching import How, Match, Matched, Matching
from agent_fox.verifier.policy.reasons import Reasons
from agent_fox.verifier.policy.setting_rules import findings_about_settings
from agent_fox.verifier.policy.stand_ins import findings_about_stand_ins
from agent_fox.verifier.policy.tests_changed import findings_about_tests
from agent_fox.verifier.policy.thresholds import findings_about_thresholds
from agent_fox.verifier.policy.values import (
    Change,
    ChangedTest,
    PolicyContext,
    PolicyFinding,
    PolicyReport,
    Rule,
    Severity,
)
from agent_fox.verifier.policy.weakening import turns

_ORDER = list(Severity)


def check_change(change: Change, context: PolicyContext) -> PolicyReport:
    """All findings about `change`. Never raises for what files hold: what can't be read is an UNKNOWN finding."""
    sources = sources_of(change, context)
    before, after = tests_of(sources, is_after=False), tests_of(sources, is_after=True)
    moves = {source.before.path: source.path for source in sources}
    matched = Matching(before, after, moves).run()
    reasons = Reasons(context, before)
    unreadable = tuple(_unreadable(change, sources))
    findings = (
        *unreadable,
        *findings_about_tests(matched, sources),
        *findings_about_hooks(sources, before, after),
        *findings_about_stand_ins(sources, after),
        *_findings_without_grammar(change, context),
    )
    weighed = sorted(
        (reasons.weigh(one) for one in dict.fromkeys(findings)), key=lambda one: _ORDER.index(one.severity)
    )
    paths = tuple(dict.fromkeys(one.file for one in weighed if one.rule is Rule.UNREADABLE))
    return PolicyReport(tuple(weighed), tuple(_changed_tests(matched, reasons)), paths)


def _findings_without_grammar(change: Change, context: PolicyContext) -> Iterator[PolicyFinding]:
    texts = tuple(text_changes(change))
    yield from findings_about_lines(texts)
    yield from findings_about_settings(texts)
    yield from findings_about_thresholds(texts)
    yield from findings_about_comments(texts)
    yield from findings_about_files(change, texts)
    yield from findings_about_counts(context)


def _unreadable(change: Change, sources: Iterable[SourceChange]) -> Iterator[PolicyFinding]:
    for source in sources:
        if source.is_broken:
            yield broken(source.path, source.error, source.line)
        elif source.error:
            yield _unknown(source.path, source.error)
    known = {source.path for source in sources}
    for path, file in change.files.items():
        if path not in known and max(len(file.before or b""), len(file.after or b"")) > LARGEST_TEXT and _is_text(path):
            yield _unknown(path, f"larger than {LARGEST_TEXT} bytes")


def _is_text(path: str) -> bool:
    return path.endswith((".toml", ".json", ".yml", ".yaml", ".ini", ".cfg", ".xml", ".gradle", ".kts", "Makefile"))


def _unknown(path: str, why: str) -> PolicyFinding:
    message = f"the file can't be checked: {why}"
    remedy = "Make the file readable; what can't be checked does not pass."
    return PolicyFinding(Rule.UNREADABLE, Severity.UNKNOWN, path, None, None, message, remedy=remedy)


def _changed_tests(matched: Matched, reasons: Reasons) -> Iterator[ChangedTest]:
    for match in matched.matches:
        how = _told(match)
        if how:
            yield ChangedTest(match.before.name, how, reasons.about(match.before.path, match.before.name))


def _told(match: Match) -> str:
    """What became of a test, in words; empty where nothing did."""
    match match.how:
        case How.GONE:
            return "deleted"
        case How.MERGED:
            return "merged into other tests"
        case How.HIDDEN:
            return "no longer found by the runner"
        case How.SAME | How.MOVED | How.RENAMED:
            return "; ".join(_differences(match))


def _differences(match: Match) -> Iterator[str]:
    if match.after is None:
        return
    if match.after.path != match.before.path:
        yield f"moved to {match.after.path}"
    if match.after.function.name != match.before.function.name:
        yield f"renamed to {match.after.function.name}"
    if match.after.function.skips != match.before.function.skips and match.after.function.skips:
        yield "skipped"
    fates = dict.fromkeys(turn.fate for turn in turns(match.before.assertions, match.after.assertions))
    if fates:
        yield f"assertions: {', '.join(fates)}"
