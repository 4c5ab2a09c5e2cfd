"""The shapes in which one known secret may turn up in output: as it is, escaped, or encoded."""

from __future__ import annotations

import base64
import html
import json
from collections.abc import Iterable, Iterator
from urllib.parse import quote, quote_plus

SHORTEST_VALUE = 6
"""Values below this length are left alone: masking every `1` would leave no text to read."""

_SHORTEST_CORE = 8
"""Base64 is looked for only where this many letters do not depend on what stands around the value."""


def forms_of(values: Iterable[str]) -> tuple[bytes, ...]:
    """Every form of every line of the values, longest first."""
    lines = {line.strip() for value in values for line in value.splitlines()}
    forms = {form for line in lines if len(line) >= SHORTEST_VALUE for form in _forms(line)}
    return tuple(sorted(forms, key=lambda form: (-len(form), form)))


def _forms(line: str) -> Iterator[bytes]:
    escaped = (line, json.dumps(line)[1:-1], json.dumps(line, ensure_ascii=False)[1:-1], html.escape(line))
    for text in (*escaped, quote(line, safe=""), quote(line), quote_plus(line)):
        yield text.encode("utf-8", "surrogatepass")
    yield line.encode("utf-16-le", "surrogatepass")
    yield from _base64(line.encode("utf-8", "surrogatepass"))


def _base64(value: bytes) -> Iterator[bytes]:
    """The letters that stay the same wherever in some encoded text the value begins."""
    for before in range(3):
        whole = base64.b64encode(b"\0" * before + value).rstrip(b"=")
        unsure = (len(value) + before) % 3 != 0  # the last letter also holds bits of what follows
        core = whole[(0, 2, 3)[before] : len(whole) - unsure]
        if len(core) >= _SHORTEST_CORE:
            yield core
            yield core.translate(bytes.maketrans(b"+/", b"-_"))
