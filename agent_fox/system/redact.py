"""Secrets masked before anything is stored or sent. What is a secret is decided here, and nothing else is."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

MASK = "[redacted]"

SHORTEST_VALUE = 6
"""Injected values below this length are left alone: masking every `1` would leave no text to read."""

LONGEST_LINE = 64 * 1024
"""A line without an end is handed on in pieces of this many characters."""

_SECRET_WORD = r"(?:api[_-]?key|access[_-]?key|secret|token|passw(?:or)?d|passwd|credential|private[_-]?key|auth)"
_SECRET_NAME = re.compile(_SECRET_WORD, re.IGNORECASE)

_TOKENS = re.compile(
    r"""\b(?:
        gh[pousr]_[A-Za-z0-9]{20,255} | github_pat_[A-Za-z0-9_]{20,255}     # GitHub
      | glpat-[A-Za-z0-9_-]{16,255}                                         # GitLab
      | sk-(?:ant-|proj-)?[A-Za-z0-9_-]{20,255}                             # model services
      | xox[abeprs]-[A-Za-z0-9-]{10,255}                                    # Slack
      | (?:AKIA|ASIA)[A-Z0-9]{16}                                           # AWS key ids
      | AIza[A-Za-z0-9_-]{35}                                               # Google
      | (?:pypi|npm)[-_][A-Za-z0-9_-]{30,255}                               # registries
      | eyJ[A-Za-z0-9_-]{10,4096}\.[A-Za-z0-9_-]{10,4096}\.[A-Za-z0-9_-]{10,4096}  # JSON web tokens
    )""",
    re.VERBOSE,
)
_HEADER = re.compile(
    r"(?P<name>\b(?:proxy-)?authorization[\"']?\s*[:=]\s*[\"']?)(?P<scheme>(?:bearer|basic|token|digest)\s+)?"
    r"(?P<value>[^\s\"',]{6,})",
    re.IGNORECASE,
)
_ASSIGNMENT = re.compile(
    rf"(?P<name>{_SECRET_WORD}[A-Za-z0-9_-]{{0,32}}[\"']?\s{{0,4}}(?:=|:(?!:))\s{{0,4}})"
    r"(?P<quote>[\"']?)(?P<value>[^\s\"',;()\[\]{}]{6,})(?P=quote)",
    re.IGNORECASE,
)
_URL = re.compile(r"(?P<scheme>://)(?P<user>[^\s/:@]{0,256}):(?P<secret>[^\s/@]{1,512})@", re.I)
_KEY_BEGIN = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_KEY_END = re.compile(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")


def looks_secret(name: str) -> bool:
    """Whether a variable of this name is likely to hold a secret (`ANTHROPIC_API_KEY`, `DB_PASSWORD`)."""
    return _SECRET_NAME.search(name) is not None


def secret_values(environment: Mapping[str, str]) -> tuple[str, ...]:
    """The values of those variables whose names say secret; hand them to `redact`."""
    return tuple(value for name, value in environment.items() if looks_secret(name))


def redact(text: str, values: Iterable[str] = ()) -> str:
    """The text with everything masked that looks like a secret, and every one of `values`."""
    redactor = Redactor(tuple(values))
    return redactor.feed(text) + redactor.close()


@dataclass
class Redactor:
    """Masks a stream: give it text in pieces of any size, write what it returns, and `close` it at the
    end.
    """

    values: tuple[str, ...] = ()
    _held: str = ""
    _is_in_key: bool = False
    _exact: re.Pattern[str] | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        lines = {line.strip() for value in self.values for line in value.splitlines()}
        longest_first = sorted((line for line in lines if len(line) >= SHORTEST_VALUE), key=len, reverse=True)
        if longest_first:
            self._exact = re.compile("|".join(re.escape(line) for line in longest_first))

    def feed(self, text: str) -> str:
        """What can be said for sure so far: all complete lines, masked."""
        *lines, self._held = (self._held + text).split("\n")
        masked = "".join(self._line(line) + "\n" for line in lines)
        return masked + self._overflow()

    def close(self) -> str:
        """The rest, masked."""
        rest, self._held = self._held, ""
        return self._line(rest) if rest else ""

    def _overflow(self) -> str:
        if len(self._held) <= LONGEST_LINE:
            return ""
        cut = max(self._held.rfind(" "), self._held.rfind(",")) + 1 or LONGEST_LINE
        piece, self._held = self._held[:cut], self._held[cut:]
        return self._line(piece)

    def _line(self, line: str) -> str:
        if self._is_in_key:
            self._is_in_key = _KEY_END.search(line) is None
            return MASK
        begin = _KEY_BEGIN.search(line)
        if begin is None:
            return self._mask(line)
        self._is_in_key = _KEY_END.search(line) is None
        return self._mask(line[: begin.start()]) + MASK

    def _mask(self, line: str) -> str:
        if self._exact is not None:
            line = self._exact.sub(MASK, line)
        line = _URL.sub(rf"\g<scheme>{MASK}@", line)
        line = _HEADER.sub(lambda m: f"{m['name']}{m['scheme'] or ''}{MASK}", line)
        line = _TOKENS.sub(MASK, line)
        return _ASSIGNMENT.sub(_mask_assignment, line)


_CODE_WORDS = frozenset({"none", "null", "true", "false", "str", "string", "optional", "required"})


def _mask_assignment(found: re.Match[str]) -> str:
    value = found["value"]
    is_code = not found["quote"] and (value.lower() in _CODE_WORDS or _is_plain_word(value, found["name"]))
    if is_code or value.startswith(MASK):
        return found[0]
    return f"{found['name']}{found['quote']}{MASK}{found['quote']}"


def _is_plain_word(value: str, name: str) -> bool:
    """Source code and prose: `token: Token`, `secret = compute`, `auth: str`, `tokens: parser.next`."""
    has_space = name.rstrip("=:").endswith(" ") or name.endswith(" ")
    return has_space and re.fullmatch(r"[A-Za-z_]+(?:\.[A-Za-z_]+)*\.?", value) is not None
