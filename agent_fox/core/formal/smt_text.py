"""SMT-LIB as text: which commands a theorem may hold, and the question that a solver is asked. Runs nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex

if TYPE_CHECKING:
    from agent_fox.core.formal.specification import TheoremStatement

ALLOWED = frozenset(
    {"assert", "declare-const", "declare-fun", "declare-sort", "declare-datatype", "declare-datatypes"}
    | {"define-const", "define-fun", "define-fun-rec", "define-funs-rec", "define-sort"}
)
_TOKENS = regex(
    r"""(?P<space>\s+|;[^\n]*)|(?P<open>\()|(?P<close>\))|(?P<atom>"(?:[^"]|"")*"|\|[^|\\]*\||[^\s()";|]+)"""
)
MILLISECONDS = 1000


class SmtError(ValueError):
    """A text that is no SMT-LIB, or holds what a theorem may not. The text says what, and at which character."""


def pieces(text: str) -> Iterator[tuple[str, str]]:
    """The outermost expressions of a text: the first word of each, and its text.

    Empty for a word by itself, a bracket for a list that begins with one.
    """
    depth = place = 0
    while place < len(text):
        match = _TOKENS.match(text, place)
        if match is None:
            raise SmtError(f"{text[place]!r} at character {place + 1} has no end or no meaning")
        place, kind = match.end(), match.lastgroup
        if kind == "open" and depth == 0:
            begin, head, depth = match.start(), "", 1
        elif kind == "open":
            head, depth = head or "(", depth + 1
        elif kind == "close":
            depth -= 1
            if depth < 0:
                raise SmtError(f"a bracket closes at character {place} that none opens")
            if depth == 0:
                yield head, text[begin:place]
        elif kind == "atom" and depth == 0:
            yield "", match["atom"]
        elif kind == "atom" and depth == 1 and not head:
            head = match["atom"]
    if depth:
        raise SmtError(f"{depth} brackets are never closed")


def check_axioms(text: str) -> None:
    """Raises SmtError for a command that does more than declare, define and assert."""
    for head, piece in pieces(text):
        if head not in ALLOWED:
            raise SmtError(f"{piece[:40]!r}: axioms only declare, define and assert")


def check_goal(text: str) -> None:
    expressions = list(pieces(text))
    if len(expressions) != 1 or expressions[0][0] in ALLOWED:
        raise SmtError("the goal is one formula, such as (= (f 2) 4), not a command")


def trouble(check: TheoremStatement) -> str:
    """What is wrong with a theorem before anything runs; empty where it can be asked about."""
    try:
        check_axioms(check.axioms)
        check_goal(check.goal)
    except SmtError as error:
        return str(error)
    return ""


def question(check: TheoremStatement) -> str:
    """Are the axioms possible at all, and is it possible that they hold and the goal does not?"""
    limit = f"(set-option :timeout {int(check.seconds * MILLISECONDS)})"
    goal = f"(assert (not {next(piece for _, piece in pieces(check.goal))}))"
    return "\n".join((limit, check.axioms, "(push)", "(check-sat)", "(pop)", goal, "(check-sat)", "(get-model)", ""))
