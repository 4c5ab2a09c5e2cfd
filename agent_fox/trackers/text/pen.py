"""The pens that an issue is written with: foreign text is masked, made harmless and cut; links are ours alone.

`Pen` writes for a tracker that acts on what it reads, `PlainPen` for a file. What an issue says is not here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from agent_fox.core import neutral
from agent_fox.core.markdown import (
    cell,
    code,
    cut,
    cut_middle,
    fenced,
    how_many_fit,
    in_fence,
    one_line,
    printable,
    quoted,
)
from agent_fox.core.regex import regex
from agent_fox.core.values import dataclass

if TYPE_CHECKING:
    from agent_fox.trackers.facts import Place

SHORT = 12
LONGEST_COMMAND = 400
LONGEST_PLACE = 1_000

_SHA = regex(r"[0-9a-f]{7,64}")
_URL = regex(r"https?://[A-Za-z0-9._~:/?#@&+,;=%-]+")


def _as_it_is(text: str) -> str:
    return text


@dataclass(frozen=True, slots=True)
class Style:
    """How one repository wants it: where its commits and lines of code are shown, the text of its template, and what
    masks secrets."""

    commit_url: Callable[[str], str] | None = None
    blob_url: Callable[[str, str, int], str] | None = None
    template: str | None = None
    mask: Callable[[str], str] = _as_it_is


@dataclass(frozen=True, slots=True)
class Pen:
    """Every piece of foreign text goes through one of these, each of which knows where it will stand."""

    style: Style

    def words(self, text: str, limit: int = 200) -> str:
        return neutral.plain(self._masked(text), limit)

    def title(self, text: str, limit: int) -> str:
        return neutral.plain_title(self._masked(text), limit)

    def lines(self, text: str, limit: int) -> str:
        return neutral.plain_lines(self._masked(text), limit)

    def block(self, text: str, limit: int) -> str:
        """What was seen, its start and its end."""
        shown = neutral.within(self._masked(text).strip("\n"), limit, neutral.in_code, cut_middle)
        return in_fence(shown)

    def shell(self, command: str, limit: int) -> str:
        return in_fence(neutral.within(self._masked(command).strip("\n"), limit, neutral.to_copy, cut), "sh")

    def command(self, line: str) -> str:
        """A command of ours with foreign names in it, for a code block."""
        return neutral.within(self._masked(line), LONGEST_COMMAND, neutral.to_copy, one_line)

    def is_parted(self, command: str) -> bool:
        """Whether a command shown by `shell` has to be freed of what parts its names."""
        masked = self._masked(command)
        return neutral.to_copy(masked) != masked

    def span(self, text: str, limit: int = 200) -> str:
        return neutral.span(self._masked(text), limit)

    def span_in_cell(self, text: str, limit: int = 100) -> str:
        return neutral.span_in_cell(self._masked(text), limit)

    def whole(self, markdown: str) -> str:
        """Markdown that was written elsewhere."""
        return neutral.tame(self._masked(markdown))

    def ids(self, names: Iterable[str], limit: int = 2_000) -> str:
        """Names in a row, as many as fit, with a word on how many did not."""
        shown = [self.words(name) for name in names]
        fit = how_many_fit([f"{name}, " for name in shown], limit)
        more = f" and {len(shown) - fit:,} more" if fit < len(shown) else ""
        line = f"{', '.join(shown[:fit])}{more}"
        return f"\\{line}" if line.startswith(("~", "`")) else line  # else it could begin a block of code

    def commit(self, sha: str) -> str:
        """A commit, linked where it can be."""
        if self.style.commit_url is None or not self._is_sha(sha):
            return self.span_in_cell(sha)
        return _linked(f"`{sha[:SHORT]}`", self.style.commit_url(sha), self.span_in_cell(sha))

    def place(self, sha: str, place: Place) -> str:
        """A line of code at a commit, linked where it can be."""
        shown = self.span(f"{place.path}:{place.line}", LONGEST_PLACE)
        if self.style.blob_url is None or not self._is_sha(sha) or self._masked(place.path) != place.path:
            return shown
        return _linked(shown, self.style.blob_url(sha, place.path, place.line), shown)

    def _is_sha(self, sha: str) -> bool:
        return _SHA.fullmatch(sha) is not None and self._masked(sha) == sha

    def _masked(self, text: str) -> str:
        """Masked as a whole, after what is invisible has gone: no cut goes through a secret."""
        return self.style.mask(printable(text))


@dataclass(frozen=True, slots=True)
class PlainPen(Pen):
    """Writes Markdown that nobody acts on: commands can be copied as they stand, and nothing is parted."""

    def words(self, text: str, limit: int = 200) -> str:
        return cell(text, limit)

    def title(self, text: str, limit: int) -> str:
        return one_line(text, limit)

    def lines(self, text: str, limit: int) -> str:
        return quoted(cut(printable(text), limit))

    def block(self, text: str, limit: int) -> str:
        return fenced(cut_middle(printable(text).strip("\n"), limit))

    def shell(self, command: str, limit: int) -> str:
        return fenced(cut(command, limit), "sh")

    def command(self, line: str) -> str:
        return one_line(line, LONGEST_COMMAND)

    def is_parted(self, command: str) -> bool:
        return False

    def span(self, text: str, limit: int = 200) -> str:
        return code(text, limit)

    def span_in_cell(self, text: str, limit: int = 100) -> str:
        return cell(code(text, limit), limit + SHORT)

    def commit(self, sha: str) -> str:
        return code(sha[:SHORT])

    def whole(self, markdown: str) -> str:
        return printable(markdown)


def _linked(shown: str, url: str, otherwise: str) -> str:
    """A link of ours, or what stands for it where the address is none."""
    return f"[{shown}]({url.replace('@', '%40')})" if _URL.fullmatch(url) else otherwise
