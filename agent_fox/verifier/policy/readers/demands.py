"""What calls demand: assertions by their names and arguments, chains as `expect(x).not.toBe(3)`, expected errors."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.verifier.policy.expressions import Tokens, flat, is_literal, number_of
from agent_fox.verifier.policy.readers.calls import LONGEST_SHOWN, Argument, Call, Link
from agent_fox.verifier.policy.readers.conditions import Conditions
from agent_fox.verifier.policy.readers.trees import is_a, text_of, tokens
from agent_fox.verifier.policy.reading import Assertion, Strength
from agent_fox.verifier.policy.tables import demands, says, words_of

if TYPE_CHECKING:
    from tree_sitter import Node

_ANY_TEXT = frozenset({"", ".*", ".+", ".", "(.*)", "[\\s\\S]*", "\\w*", ".*?"})
_OF_ONE = frozenset({"is none", "is something", "error", "something"})
_OF_TWO = frozenset({"equal", "same", "not equal", "<", "<=", ">", ">="})
_NOT_ALL = frozenset({"null", "undefined", "empty", "toBeNull", "toBeUndefined", "toBeNaN"})
_C_ASSERTS = regex(r"(?i)\w*(?:assert|expect|check|require|verify|test|fail_unless|fail_if)\w*")
_EMPTY_MATCHER = regex(r"Containing\(\s*(?:\{\s*\}|\[\s*\]|['\"`]{2})")


def demands_of(call: Call, language: str) -> tuple[Assertion, ...]:
    """The demands of a call; none where it is no assertion that is known."""
    stated = Conditions(language, call.line)
    for form in (_raising, _of_values, _of_mock, _of_chain, _failing):
        if demanded := tuple(form(call, language, stated)):
            text = "" if language in ("python", "go") else text_of(call.node)[:LONGEST_SHOWN]
            return tuple(each._replace(text=text) for each in demanded) if text else demanded
    return ()


def custom(call: Call, language: str) -> Assertion | None:
    """A call of something that asserts by its name, defined elsewhere: taken for exact, by its name and arguments."""
    if not call.given or not call.word.startswith(tuple(words_of(language, "asserting"))):
        return None
    first, *others = (each.tokens for each in call.given)
    return Assertion(first, call.word, Strength.EXACT, call.line, flat(others))


def is_raising(call: Call, language: str) -> bool:
    return call.word in words_of(language, "raisers")


def raised(call: Call, language: str, subject: Tokens) -> Assertion:
    """`raises(KeyError, match=...)` about `subject`: partial with a class of errors, or with a message."""
    error = call.given[0].tokens if call.given else ()
    message = call.named.get("match", ())
    if call.word.endswith("Regex") and len(call.given) > 1:
        message = call.given[1].tokens
    message = () if " ".join(message).strip("rR'\"^$") in _ANY_TEXT else message
    return _error(Conditions(language, call.line), subject, error, message)


def _error(stated: Conditions, subject: Tokens, error: Tokens, message: Tokens = ()) -> Assertion:
    """An error that is to come; every error will do where none, or one of the broadest, is named."""
    broad, is_made = words_of(stated.language, "broad"), "(" in error[1:]
    is_named = not is_made and not broad.isdisjoint(token for token in error if token.isidentifier())
    is_broad = is_named or "".join(error) in broad
    strength = Strength.LOOSE if not message and (is_broad or not error) else Strength.PARTIAL
    return stated.demand(subject, "raises", strength, error)._replace(detail=message, strength=strength)


def _raising(call: Call, language: str, stated: Conditions) -> Iterator[Assertion]:
    if is_raising(call, language) and len(call.given) > (2 if call.word.endswith("Regex") else 1):
        if language == "python":
            yield raised(call, language, flat(each.tokens for each in call.given[1:]))
        else:
            yield _error(stated, call.given[1].called, call.given[0].tokens)


def is_failing(call: Call, language: str) -> bool:
    is_failure = call.word in words_of(language, "fails")
    return is_failure and (language != "python" or all(link.word != "pytest" for link in call.links))


def _failing(call: Call, language: str, stated: Conditions) -> Iterator[Assertion]:
    if is_failing(call, language):
        yield Assertion(("fail",), "fails", Strength.EXACT, stated.line)


def _of_values(call: Call, language: str, stated: Conditions) -> Iterator[Assertion]:
    """Assertions by their names: what is looked at and what is expected are arguments."""
    table, word = demands(language, "calls"), call.word
    given = list(call.given) if _asserts(call, language, table) else []
    if not given and (language != "cpp" or not _asserts(call, language, table)):
        return
    word = re.sub(r"^(?:debug_|prop_)", "", word) if language == "rust" else word
    word = "ok" if language == "javascript" and len(call.links) == 1 else word
    given = given[1:] if language == "go" else given
    operator, strength = _ending(word) if language == "cpp" else table.get(word, (word, Strength.EXACT))
    values = [each.tokens for each in _in_order(given, operator, language)]
    subject, expected = (*values, (), ())[:2]
    if operator in ("truthy", "falsy") or (not operator and values and not expected):
        yield from [stated.fails(subject)] if operator == "falsy" else stated.holds(subject)
    elif operator == "raises":
        yield _error(stated, given[0].called, expected)
    elif operator in _OF_ONE or (not expected and word in table):
        yield stated.demand(subject, operator, strength)
    elif (tolerance := _tolerance(call, operator, values, language)) is not None:
        yield stated.demand(subject, "close", Strength.EXACT, expected, tolerance)
    elif operator in _OF_TWO:
        yield from stated.compared(subject, operator, strength, expected)
    else:
        expected = expected if word in table or language == "javascript" else flat(values[1:])
        yield stated.demand(subject, operator or word, strength, expected)


def _asserts(call: Call, language: str, table: Iterable[str]) -> bool:
    """Whether a call is an assertion by its name, or by what it is asked of."""
    roots = words_of(language, "asserting_roots")
    if language == "cpp":
        return _C_ASSERTS.fullmatch(call.word) is not None
    if language == "rust":
        is_macro = is_a(call.node, "macro_invocation")
        return is_macro and call.word.removeprefix("debug_").startswith(tuple(words_of(language, "asserting")))
    if not roots:
        return call.word in table
    root = call.links[0].word
    is_of_test = root == "t" and len(call.links) == 2 and language == "javascript" and call.word in table
    return is_of_test or (root in roots and (language == "javascript" or len(call.given) > 1))


def _in_order(given: list[Argument], operator: str, language: str) -> list[Argument]:
    """The arguments with what is looked at first; a message that JUnit 4 has before them goes."""
    if language == "java" and (operator in _OF_ONE or operator in ("truthy", "falsy")):
        return [next((each for each in given if not each.is_text), given[0])]
    has_message = language == "java" and len(given) > 2 and given[0].is_text and not given[2].is_text
    given = given[1:] if has_message and number_of(given[-1].tokens) is None else given
    is_turned = language == "java" or (language == "go" and operator == "equal")
    is_turned = is_turned or (language == "cpp" and operator not in _OF_ONE)
    if len(given) > 1 and is_turned and (language != "cpp" or is_literal(given[0].tokens)):
        return [given[1], given[0], *given[2:]]
    return given


@cache
def _ending(name: str) -> tuple[str, Strength]:
    """What the name of an assertion in C says by its end, the longest word counting; one that says nothing is of its
    own kind.
    """
    table = demands("cpp", "calls")
    ending = re.fullmatch(rf"(?i)(?:.*_)?({'|'.join(sorted(table, key=len, reverse=True))})(?:_message|_msg)?", name)
    operator, strength = table[ending[1].lower()] if ending else ("", Strength.EXACT)
    return operator or (ending[1].lower() if ending else ""), strength


def _tolerance(call: Call, operator: str, values: list[Tokens], language: str) -> float | None:
    """How near a value must come: by a number, by decimals or, of numpy, relatively or by significant digits."""
    if operator in ("equal", "not equal") and language == "java" and len(values) > 2:
        return number_of(values[2]) if operator == "equal" else None
    given = {name: number_of(value) for name, value in call.named.items()}
    if operator == "close":
        places = given.get("places")
        return given.get("delta") if places is None else float(0.5 * 10.0**-places)
    if operator != "near":
        return None
    places_of = {"assert_allclose": ("rtol", "atol"), "assert_approx_equal": ("significant",)}
    given |= dict(zip(places_of.get(call.word, ("decimal",)), map(number_of, values[2:]), strict=False))
    size = abs(number_of(values[1]) or 1.0)
    digits, significant = given.get("decimal"), given.get("significant")
    if call.word == "assert_allclose":
        return max((given.get("rtol") or 1e-7) * size, given.get("atol") or 0.0)
    if call.word == "assert_approx_equal":
        return float(size * 10.0 ** -((7.0 if significant is None else significant) - 1))
    return float(1.5 * 10.0 ** -(6.0 if digits is None else digits))


def _of_mock(call: Call, language: str, stated: Conditions) -> Iterator[Assertion]:
    """`mock.assert_called_with(3)`: how a stand-in was called."""
    if call.word in demands(language, "mocks") and len(call.links) > 1:
        strength, owner = demands(language, "mocks")[call.word][1], tokens(call.links[-1].owner)
        yield Assertion(owner, call.word, strength, call.line, _listed(call.given))


def _listed(given: Iterable[Argument]) -> Tokens:
    return tuple(token for each in given for token in (*each.tokens, ","))


def _of_chain(call: Call, language: str, stated: Conditions) -> Iterator[Assertion]:
    if language not in ("java", "javascript"):
        return
    root, *links = call.links
    if language == "java" and root.given and root.word in words_of(language, "roots"):
        yield from _of_links(root, links, stated) if links else _of_matcher(root.given, stated)
    elif language == "java" and root.word == "verify" and root.given and links:
        yield _verified(root.given, links[0], stated)
    elif language == "javascript" and root.word == "expect" and root.given and links:
        modes = tuple(link.word for link in links if link.word in ("resolves", "rejects", "all"))
        subject = (*(mode for mode in modes if mode != links[-1].word), *root.given[0].called)
        demanded, words = _judged(subject, links, stated), {link.word for link in links}
        is_lost = "catch" in words or is_a(call.node.parent, "expression_statement")  # neither awaited nor returned
        is_dropped = is_lost and not words.isdisjoint({"resolves", "rejects", "eventually"})
        yield from (each._replace(strength=Strength.NONE) if is_dropped else each for each in demanded)
    elif language == "javascript" and (at := [link.word for link in call.links]).count("should"):
        before, after = call.links[: at.index("should")], call.links[at.index("should") :]
        subject = flat((link.word, *(("(", ")") if link.given is not None else ())) for link in before)
        yield from _judged(subject, after, stated)


def _of_links(root: Link, links: list[Link], stated: Conditions) -> Iterator[Assertion]:
    """`assertThat(x).isNotNull().isEqualTo(3)`, `assertThatThrownBy(…).isInstanceOf(…)`: each link is a demand."""
    subject = (root.given or [])[0].called
    for link in links:
        expected = flat(each.tokens for each in link.given or ())
        operator, strength = demands("java", "chains").get(link.word, (link.word, Strength.EXACT))
        if "Thrown" in root.word and link.word in ("isInstanceOf", "isExactlyInstanceOf"):
            yield _error(stated, subject, expected)
        elif operator in ("truthy", "falsy"):
            yield from stated.holds(subject) if operator == "truthy" else [stated.fails(subject)]
        else:
            is_broad = link.word == "isInstanceOf" and expected[:1] and expected[0] in words_of("java", "broad")
            yield stated.demand(subject, operator or link.word, Strength.LOOSE if is_broad else strength, expected)


def _of_matcher(given: Iterable[Argument], stated: Conditions) -> Iterator[Assertion]:
    """Hamcrest: `assertThat("why", x, is(3))`."""
    parts = [each.tokens for each in given]
    if len(parts) > 1 and parts[-1]:
        subject, (word, *expected) = parts[-2:]
        is_negated, is_exact = word in ("not", "notNullValue", "anything"), word in ("is", "equalTo")
        strength = Strength.LOOSE if is_negated else Strength.EXACT if is_exact else Strength.PARTIAL
        yield stated.demand(subject, word, strength, tuple(expected))


def _verified(given: Iterable[Argument], called: Link, stated: Conditions) -> Assertion:
    """`verify(mock, times(2)).call(3)`: how often, and with what."""
    mock, *others = (each.tokens for each in given)
    often = others[0] if others else ()
    strength = Strength.PARTIAL if "atLeast" in " ".join(often) or "atMost" in " ".join(often) else Strength.EXACT
    strength = Strength.NONE if "atLeast ( 0" in " ".join(often) else strength
    expected = (*_listed(called.given or ()), *often)
    return Assertion((*mock, ".", called.word), "verify", strength, stated.line, expected)


def _judged(subject: Tokens, links: list[Link], stated: Conditions) -> Iterator[Assertion]:
    """What the matcher at the end of a chain demands."""
    words = [link.word for link in links if link.word not in words_of("javascript", "fillers")] or ["ok"]
    word, is_negated = words[-1], "not" in words[:-1]
    given = next((link.given for link in reversed(links) if link.given is not None), ())
    expected = flat(each.tokens for each in given)
    operator, strength = demands("javascript", "matchers").get(word, (word, Strength.EXACT))
    operator = operator or word
    if given and (operator == "equal" or word in ("toMatchObject", "toHaveBeenCalledWith")):
        strength = min(strength, _openness(given[0].node))
    if word in words_of("javascript", "throws"):
        yield _error(stated, subject, expected)._replace(operator=f"{'not ' * is_negated}raises")
    elif word == "toBeCloseTo":
        digits = number_of(given[1].tokens) if len(given) > 1 else 2.0
        tolerance = 0.5 * 10.0**-digits if digits is not None and abs(digits) < 100 else None
        yield stated.demand(subject, "close", Strength.EXACT, given[0].tokens if given else (), tolerance)
    elif operator in ("truthy", "falsy") or (operator == "equal" and expected in (("true",), ("false",))):
        is_true, is_exact = expected == ("true",) or operator == "truthy", operator == "equal" and not is_negated
        for each in stated.holds(subject) if is_true is not is_negated else [stated.fails(subject)]:
            is_raised = is_exact and each.operator in ("truthy", "falsy") and each.strength is not Strength.NONE
            yield each._replace(strength=min(Strength(each.strength + 1), Strength.EXACT)) if is_raised else each
    elif is_negated:
        is_all = word in ("toBeDefined", "toHaveBeenCalled", "toBeCalled", "exist")
        left = Strength.LOOSE if word in _NOT_ALL else Strength.EXACT if is_all else min(strength, Strength.PARTIAL)
        yield stated.demand(subject, f"not {operator}", left, expected)
    else:
        yield stated.demand(subject, operator, strength, expected)


def _openness(expected: Node | None) -> Strength:
    """How much is left of a demand whose expected value holds matchers of its own."""
    text = text_of(expected)
    if says("javascript", "anything", text) or _EMPTY_MATCHER.search(text):
        return Strength.LOOSE
    is_open = any(text.startswith(f"expect.{word}") for word in words_of("javascript", "open"))
    return Strength.PARTIAL if is_open else Strength.EXACT
