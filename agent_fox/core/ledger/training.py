"""What may be learned from: persons' permissions, and whether something is covered by one. Default: nothing. Pure.

A permission is signed like a waiver (`core/ledger/waivers.py`). Source of the rules: `docs/training.md`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum

from agent_fox.core.regex import regex
from agent_fox.core.values import dataclass

ALL = "all"
_SELECTOR = regex(r"all|(?:spec|requirement|node|run|session|record):\S.{0,300}")
SELECTORS = "all, spec:NAME, requirement:SPEC/REQ, node:ID, run:N, session:N or record:ID"
LONGEST_TERM = 200


class Act(StrEnum):
    """What a person decides. Of several about one selector the last counts, and then DENY outweighs ALLOW; LOCK
    outweighs both, and is for ever."""

    ALLOW = "allow"
    DENY = "deny"
    LOCK = "lock"


@dataclass(frozen=True, slots=True)
class Permission:
    """One signed decision. `purpose`: what may be done with it; `license`: under which an export names third-party
    text; `id`, `signer` and `at`, when it was signed, as in the waiver that holds it.
    """

    act: Act
    selector: str
    purpose: str = ""
    license: str = ""
    id: str = ""
    signer: str = ""
    at: str = ""


@dataclass(frozen=True, slots=True)
class Subject:
    """Something that could be learned from: a session with what was said of it.

    names: every selector that means it; touches: those of what else is in it, such as a requirement that it was judged
    by. An allowance must mean the whole, a denial any part. is_hidden: a hidden check is in it. third_party: files of
    others' texts in its tree.
    """

    names: frozenset[str]
    touches: frozenset[str] = frozenset()
    is_hidden: bool = False
    third_party: tuple[str, ...] = ()


def why_not(subject: Subject, permissions: Iterable[Permission], purpose: str) -> str:
    """Why something must not be learned from for this purpose; empty where a person has allowed it.

    Hidden checks never may, whatever is allowed.
    """
    if subject.is_hidden:
        return "a hidden check is in it"
    about = [each for each in permissions if each.selector in {ALL, *subject.names, *subject.touches}]
    locked = next((each for each in about if each.act is Act.LOCK), None)
    if locked is not None:
        return f"locked for ever by {locked.signer} ({locked.selector})"
    last = _last(about, purpose)
    denied = next((each for each in last if each.act is Act.DENY), None)
    if denied is not None:
        return f"denied by {denied.signer} ({denied.selector})"
    return _why_not_allowed(subject, allowing(subject, last, purpose), purpose)


def allowing(subject: Subject, permissions: Iterable[Permission], purpose: str) -> list[Permission]:
    """Those that allow the whole of it for this purpose."""
    return [
        each
        for each in permissions
        if each.act is Act.ALLOW and each.purpose == purpose and each.selector in {ALL, *subject.names}
    ]


def _last(permissions: Iterable[Permission], purpose: str) -> list[Permission]:
    """Of each selector the decision that was signed last; a denial without a purpose is about every one."""
    about = sorted((each for each in permissions if each.purpose in ("", purpose)), key=lambda each: (each.at, each.id))
    return list({each.selector: each for each in about}.values())


def _why_not_allowed(subject: Subject, allowed: Sequence[Permission], purpose: str) -> str:
    if not allowed:
        return f"nobody has allowed it for {purpose}"
    if subject.third_party and not any(each.license for each in allowed):
        more = f" and {len(subject.third_party) - 1} more" if len(subject.third_party) > 1 else ""
        return f"it holds text of others ({subject.third_party[0]}{more}), and no permission names its licence"
    return ""


def is_selector(text: str) -> bool:
    return _SELECTOR.fullmatch(text) is not None
