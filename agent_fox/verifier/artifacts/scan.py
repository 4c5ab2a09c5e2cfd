"""A second look at what is about to be stored, by other means than the masks: does it still look like a secret?

A suspicion is a flag for a person, never a mask. Hashes, UUIDs, images and lock files give none.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from enum import Enum
from typing import BinaryIO

from agent_fox.core.regex import regex
from agent_fox.system.redaction.forms import forms_of

_PIECE = 1 << 20
_OVERLAP = 4096

_ARCHIVES = (b"PK\x03\x04", b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"7z\xbc\xaf", b"\x28\xb5\x2f\xfd", b"Rar!")
_BINARY_SUFFIXES = (".coverage", ".db", ".exec", ".gcda", ".gcno", ".jpg", ".png", ".profraw", ".sqlite", ".gif")
_TEXT_MARKS = (b"\xff\xfe", b"\xfe\xff")

_KNOWN = tuple(
    regex(pattern)
    for pattern in (
        rb"gh[pousr]_[A-Za-z0-9]{30}",
        rb"pat[_-](?:(?<=hub_pat_)|(?<=glpat-))[A-Za-z0-9_]{16}",
        rb"hf_[A-Za-z]{30}",
        rb"SG\.[\w-]{16,64}\.[\w-]{16,64}",
        rb"ya29\.[\w-]{20}",
        rb"dop_v1_[0-9a-f]{40}",
        rb"xox[a-z]-[0-9]{8}",
        rb"AKIA[A-Z0-9]{16}",
        rb"eyJ[\w-]{16,4096}\.eyJ[\w-]{8}",
        rb"PRIVATE KEY(?: BLOCK)?-----\s{0,4}(?:\\[nr]){0,2}[A-Za-z0-9+/]{20}",
    )
)
_TALK = regex(rb"ke(?:y|(?<=toke)n)|cre(?:d|(?<=secre)t)|passw|uth(?<=auth)|bearer")
_LETTERS = regex(rb"(?<![\w+/=.-])[A-Za-z0-9+/_=-]{20,128}(?![\w+/=.-])")
_REACH = 96
"""Bytes after a word like `token` in which a random word is its value."""

_HASH = regex(rb"(?:sha\d+-|[A-Z]+_)?[0-9a-fA-F-]+=*\Z|sha\d{1,3}[-_].*")
_ENTROPY = 3.7
"""Bits per letter: words and names of things stay below it, random base64 of 20 letters is above."""


class Nature(Enum):
    TEXT = "text"
    BINARY = "binary"
    ARCHIVE = "archive"


def nature_of(name: str, head: bytes) -> Nature:
    """Told by the first bytes of a file, and by its name."""
    if head.startswith(_ARCHIVES):
        return Nature.ARCHIVE
    has_nul = b"\0" in head and not head.startswith(_TEXT_MARKS)
    return Nature.BINARY if has_nul or name.lower().endswith(_BINARY_SUFFIXES) else Nature.TEXT


def holds_any(file: BinaryIO, secrets: Iterable[str]) -> bool:
    """Whether one of these values is in the file, in any form that masks know."""
    forms = forms_of(secrets)
    return any(form in piece for piece in _overlapping(file) for form in forms)


def looks_leaky(file: BinaryIO) -> bool:
    """Whether something in the file looks like a token, or stands beside a word like `token` and looks random."""
    return any(_is_suspect(piece) for piece in _overlapping(file))


def _overlapping(file: BinaryIO) -> Iterator[bytes]:
    end = b""
    while piece := file.read(_PIECE):
        yield end + piece
        end = piece[-_OVERLAP:]


def _is_suspect(piece: bytes) -> bool:
    if any(pattern.search(piece) for pattern in _KNOWN):
        return True
    return any(_is_random(word) for word in _words_beside_talk(piece))


def _words_beside_talk(piece: bytes) -> Iterator[bytes]:
    """Long words that follow a word like `token` on its line."""
    for each in _TALK.finditer(piece.lower()):
        newline = piece.find(b"\n", each.end(), each.end() + _REACH)
        end = newline if newline >= 0 else each.end() + _REACH
        yield from (letters[0] for letters in _LETTERS.finditer(piece, each.end(), end))


def _is_random(word: bytes) -> bool:
    kinds = sum(any(letter in kind for letter in word) for kind in (_UPPER, _LOWER, _DIGITS))
    is_name = word.count(b"/") > 1 or word.count(b"-") > 2 or word.count(b"_") > 2
    if kinds < 3 or is_name or _HASH.match(word):
        return False
    counts = Counter(word)
    return -sum(n / len(word) * math.log2(n / len(word)) for n in counts.values()) >= _ENTROPY


_UPPER, _LOWER, _DIGITS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ", b"abcdefghijklmnopqrstuvwxyz", b"0123456789"
