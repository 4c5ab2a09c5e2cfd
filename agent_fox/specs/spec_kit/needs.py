"""Which other specs a spec says, in prose, that it needs. Whether they are there is asked elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.core.spec import Dependency
from agent_fox.specs.lines import Line, with_sections

if TYPE_CHECKING:
    from agent_fox.specs.document import Markdown

_FOLDER = regex(
    r"(?<![\w./-])(?:\.{1,2}/){0,4}(?:\.?specs/)?(?P<name>\d{3,8}-[A-Za-z0-9][\w-]{0,120})(?!\.\w)(?![\w-])"
)
_NUMBER = regex(
    r"(?:\b(?:specs?|features?)\s+#?|(?<=[:：*])\s{0,3}|,\s{0,3}|\band\s)(?P<number>\d{3})(?![\w.%/-])",
    re.IGNORECASE,
)
_LABEL = regex(
    r"[\s>*_+-]{0,8}(?:depends?[ -]on|depend(?:s|enc(?:y|ies))|requires?(?: specs?| features?)?|builds on|blocked by"
    r"|phase dependency|upstream|依[赖賴]|依存(?:仕様|先)?|의존(?:성)?|depende de|dépend de|hängt ab von|abhängig von"
    r"|зависит от)[^:：]{0,40}[:：]",
    re.IGNORECASE,
)
_SECTION = regex(r"dependenc|depends on|依[赖賴存]|의존|dépendanc|depend[eê]nc|abhängig|зависимост", re.IGNORECASE)
_OTHER_WAY = regex(
    r"\b(?:blocks|required by|needed by|used by|consumed by|depended on by|downstream|enables|unblocks|out of scope"
    r"|dependents|independent of|no dependenc\w*|does not depend|not depend|supersed\w+|replaces|related)\b",
    re.IGNORECASE,
)
_HEAD = 40


def needs_in(
    markdown: Markdown, own: str, siblings: Iterable[str], *, header_only: bool = False
) -> Iterator[Dependency]:
    """The specs that a document's section about dependencies, or a line that says *depends on*, names.

    A bare number counts as the one sibling that begins with it. `header_only`: only the lines before the first section.
    """
    folders = [name for name in siblings if name != own]
    for line in _saying(markdown.lines, header_only):
        if _OTHER_WAY.search(line.text) is None:
            for name in _named(line.text, folders):
                if name != own:
                    yield Dependency(name, None, None, markdown.at(line.number), is_archived=True)


def _saying(lines: Iterable[Line], header_only: bool) -> Iterator[Line]:
    """Lines about what this spec needs: a label with the list below it, and all of such a section."""
    is_below_label = False
    for section, line in with_sections(lines):
        chapter = section.partition(" / ")[2] if " / " in section else ""
        if line.is_code or (header_only and (chapter or line.number > _HEAD)):
            continue
        is_label = _LABEL.match(line.text) is not None
        is_listed = line.text.lstrip()[:2] in ("- ", "* ", "+ ")
        is_below_label = is_label or (is_below_label and (line.is_blank or is_listed) and line.heading is None)
        if is_label or is_below_label or (not header_only and _SECTION.search(chapter)):
            yield line


def _named(text: str, folders: list[str]) -> Iterator[str]:
    yield from (match["name"] for match in _FOLDER.finditer(text))
    for match in _NUMBER.finditer(text):
        meant = [name for name in folders if name.startswith(f"{match['number']}-")]
        yield from meant if len(meant) == 1 else []
