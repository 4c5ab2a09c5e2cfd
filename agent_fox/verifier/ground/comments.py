"""What stands right above tests of JavaScript, Go, Rust and Java: comments and annotations, by a look at the lines."""

from __future__ import annotations

from collections import Counter

from agent_fox.core.regex import regex

_JAVASCRIPT = regex(r"""\s*(?:it|test|specify)(?:\.\w+)*\s*\(\s*(['"`])(?P<name>(?:(?!\1).)+)\1""")
_GO = regex(r"func (?P<name>(?:Test|Fuzz|Example)\w*)\(")
_RUST = regex(r"\s*(?:pub )?(?:async )?fn (?P<name>\w+)\s*\(")
_JAVA = regex(
    r"\s*(?:(?:public|protected|private|static|final|open|suspend) )*(?:void|fun)\s+`?(?P<name>[^`(]+?)`?\s*\("
)
_TESTS = {
    **dict.fromkeys((".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts"), _JAVASCRIPT),
    ".go": _GO,
    ".rs": _RUST,
    **dict.fromkeys((".java", ".kt", ".groovy"), _JAVA),
}
_ABOVE = regex(r"\s*(?://|/\*|\*|#\[|@)")


def said_above(text: str, suffix: str) -> dict[tuple[str, ...], str]:
    """Name of a test -> the comments and annotations right above it. A name that stands twice says nothing."""
    pattern = _TESTS.get(suffix)
    if pattern is None:
        return {}
    lines = text.split("\n")
    found = [(match["name"], at) for at, line in enumerate(lines) if (match := pattern.match(line))]
    times = Counter(name for name, _ in found)
    return {(name,): said for name, at in found if times[name] == 1 and (said := _above(lines, at))}


def _above(lines: list[str], at: int) -> str:
    first = at
    while first > 0 and _ABOVE.match(lines[first - 1]):
        first -= 1
    return "\n".join(lines[first:at])
