"""Which files a task may write: patterns, links, and what the paths of a change come to. Where the paths come from, and
what a finding costs, is not here.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import cache

from agent_fox.core.regex import regex
from agent_fox.core.values import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Touched:
    """A path that a change writes, removes or gives another mode, as git names it. `leads_to`: a link's target."""

    path: str
    leads_to: str = ""

    def __str__(self) -> str:
        return f"{self.path} -> {self.leads_to}" if self.leads_to else self.path


@dataclass(frozen=True, slots=True)
class Boundary:
    """Patterns of paths, counted from the repository's root.

    `allowed` was said by a person, and binds; `named` is what documents name, which is seldom everything. Nothing of
    `forbidden` may be touched, whatever is allowed. `is_closed`: no pattern at all allows nothing, not anything.
    """

    allowed: tuple[str, ...] = ()
    named: tuple[str, ...] = ()
    forbidden: tuple[str, ...] = ()
    is_closed: bool = False


@dataclass(frozen=True, slots=True)
class ScopeReport:
    """Where a change went. `touched_outside`: paths that nobody named, and nobody forbade."""

    allowed_files: tuple[str, ...] = ()
    forbidden_writes: tuple[str, ...] = ()
    off_scope_writes: tuple[str, ...] = ()
    touched_outside: tuple[str, ...] = ()


_SPECIAL = regex(r"\*\*/|\*\*|\*|\?|[^*?]+")
_WORDS = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}


@cache
def _expression(pattern: str) -> re.Pattern[str]:
    body = "".join(_WORDS.get(part) or re.escape(part) for part in _SPECIAL.findall(pattern))
    return re.compile(f"{body}(?:/.*)?", re.DOTALL)


def matches(pattern: str, path: str) -> bool:
    """Whether `path` is what the pattern names, or lies below it.

    `*` and `?` stop at a slash, `**` does not; every other character, brackets too, stands for itself.
    """
    return _expression(tidy(pattern)).fullmatch(path) is not None


def tidy(pattern: str) -> str:
    """A pattern without what changes nothing: `./`, doubled and trailing slashes."""
    parts = [part for part in pattern.split("/") if part not in ("", ".")]
    return "/".join(parts)


def why_no_pattern(pattern: str) -> str:
    """Why a pattern cannot name paths of the repository; empty where it can."""
    if not tidy(pattern) or "\0" in pattern:
        return "it names nothing"
    if pattern.startswith(("/", "~")) or "\\" in pattern or re.match(r"[A-Za-z]:", pattern):
        return "it is not counted from the repository's root"
    return "it has a `..` in it" if ".." in pattern.split("/") else ""


def _folded(path: str) -> str:
    """One spelling for all that some file system takes for the same name: what is forbidden is so in every spelling."""
    return unicodedata.normalize("NFKC", path).casefold()


def is_forbidden(path: str, patterns: Iterable[str]) -> bool:
    """Whether a pattern names the path, in any case and Unicode form, or something that had to lie below it."""
    own = _folded(path)
    wanted = [_folded(tidy(pattern)) for pattern in patterns]
    return any(matches(pattern, own) or pattern.startswith(f"{own}/") for pattern in wanted)


def target_of(touched: Touched) -> str | None:
    """Where a link leads, as a path of the repository; None where that is outside of it."""
    if touched.leads_to.startswith("/"):
        return None
    parts = touched.path.split("/")[:-1]
    for part in touched.leads_to.split("/"):
        if part == ".." and not parts:
            return None
        if part == "..":
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)


def _is_allowed(touched: Touched, patterns: Sequence[str]) -> bool:
    ends = [touched.path, *([target_of(touched)] if touched.leads_to else [])]
    return all(end is not None and any(matches(pattern, end) for pattern in patterns) for end in ends)


def _hits_forbidden(touched: Touched, patterns: Sequence[str]) -> bool:
    target = target_of(touched) if touched.leads_to else None
    return is_forbidden(touched.path, patterns) or (bool(target) and is_forbidden(str(target), patterns))


def scope_of(boundary: Boundary, touched: Iterable[Touched]) -> ScopeReport:
    """What a change's paths come to. Without any pattern of what is allowed nothing is outside, unless it is closed.

    A renamed file counts at both of its names; a link where it stands and where it leads.
    """
    allowed = tuple(dict.fromkeys((*boundary.allowed, *boundary.named)))
    forbidden, outside = [], []
    for path in sorted(set(touched)):
        if _hits_forbidden(path, boundary.forbidden):
            forbidden.append(str(path))
        elif (allowed or boundary.is_closed) and not _is_allowed(path, allowed):
            outside.append(str(path))
    off, beside = (outside, []) if boundary.allowed else ([], outside)
    return ScopeReport(allowed, tuple(forbidden), tuple(off), tuple(beside))


_SPAN = regex(r"`([^`\n]+)`")
_FENCE = regex(r"^ *(```|~~~)[^\n]*\n(.*?)^ *\1", re.MULTILINE | re.DOTALL)
_PATH = regex(r"(?<![\w@:/.-])(?:\./)?[\w@.*-]+(?:/[\w@.*{}\[\]-]+)*/?")
_SUFFIX = regex(r"\.[A-Za-z][A-Za-z0-9]{0,9}$")


def paths_named(text: str) -> tuple[str, ...]:
    """The paths that a design document names, in code: as patterns, a bare file name standing for one anywhere."""
    parts = _FENCE.split(text)  # prose, the marks of a fence, the block in it, prose again
    spans = [span for prose in parts[::3] for span in _SPAN.findall(prose)]
    words = (word for part in (*spans, *parts[2::3]) if "://" not in part for word in _PATH.findall(part))
    return tuple(dict.fromkeys(_pattern(word) for word in words if _is_path(word)))


def _is_path(word: str) -> bool:
    has_letters = any(letter.isalpha() for letter in word)
    is_place = "/" in word or _SUFFIX.search(word) is not None
    return has_letters and is_place and not why_no_pattern(word)


def _pattern(word: str) -> str:
    plain = tidy(word)
    return plain if "/" in plain or word.endswith("/") else f"**/{plain}"
