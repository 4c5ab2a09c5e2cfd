"""How any text stands in a normal form: as it is, and as `&#N;` where a reader or an editor would change it."""

from __future__ import annotations

from collections.abc import Iterable

from agent_fox.core.regex import regex

WORD = r"(?:`[^`]*`|[\w.-]+)"

_REFERENCE = regex(r"&#(\d{1,7});")
_LOOKS_LIKE_ONE = regex(r"&(?=#\d{1,7};)")
_UNSAFE = regex(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"  # steers, or is lost
)
_PLAIN_WORD = regex(r"[\w.-]+")
_WORD = regex(WORD)
_LARGEST = 0x10FFFF


def one_line(text: str, also: str = "") -> str:
    """A text for the rest of a line; `also` are letters that mean something in that place."""
    shown = _edges(_safe(text)).replace("\n", "&#10;")
    for letter in also:
        shown = shown.replace(letter, reference(letter))
    return shown


def block(text: str) -> list[str]:
    """A text as lines, the first and the last of which hold something, unless all is empty."""
    inner = text.strip("\n")
    if not inner:
        return [reference("\n") * len(text)]
    before = len(text) - len(text.lstrip("\n"))
    lines = [_edges(line, left=False) for line in _safe(inner).split("\n")]
    lines[0] = reference("\n") * before + _edges(lines[0])
    lines[-1] += reference("\n") * (len(text) - before - len(inner))
    return lines


def quoted(text: str) -> str:
    return f"`{one_line(text, also='`|')}`"


def word(text: str) -> str:
    """An id or a name: as it is where it is one plain word."""
    return text if _PLAIN_WORD.fullmatch(text) else quoted(text)


def words(texts: Iterable[str]) -> str:
    return ", ".join(word(text) for text in texts)


def text_of(shown: str) -> str:
    """What was escaped, as it was."""
    return _REFERENCE.sub(lambda found: chr(int(found[1])) if int(found[1]) <= _LARGEST else found[0], shown)


def word_of(shown: str) -> str:
    return text_of(shown.strip("`"))


def words_of(shown: str) -> tuple[str, ...] | None:
    """A list of words; None where the text is not one."""
    words = _WORD.findall(shown)
    return tuple(word_of(word) for word in words) if ", ".join(words) == shown.strip() else None


def reference(letter: str) -> str:
    return f"&#{ord(letter)};"


def _safe(text: str) -> str:
    return _UNSAFE.sub(lambda found: reference(found[0]), _LOOKS_LIKE_ONE.sub("&#38;", text))


def _edges(line: str, *, left: bool = True) -> str:
    line = line[:-1] + reference(line[-1]) if line[-1:].isspace() else line
    return reference(line[0]) + line[1:] if left and line[:1].isspace() else line
