"""What an assertion in JavaScript demands: expect with its matchers, chai's chains, node's assert."""

from __future__ import annotations

import re
from dataclasses import replace

from tree_sitter import Node

from agent_fox.verifier.policy.expressions import Tokens, number_of
from agent_fox.verifier.policy.readers.trees import children, field, is_a, line_of, text_of, tokens
from agent_fox.verifier.policy.readers.words import demands, words_of
from agent_fox.verifier.policy.reading import Assertion, Strength, settled

_ANYTHING = ("expect.anything", "expect.any(", "jasmine.any")
_OPEN = ("expect.objectContaining", "expect.arrayContaining", "expect.stringContaining", "expect.stringMatching")
_COMPARISONS = {"===": "equal", "==": "equal", ">": ">", "<": "<", ">=": ">=", "<=": "<="}


_Chain = list[tuple[str, tuple[Node, ...] | None]]


def assertion_of_call(node: Node) -> Assertion | None:
    """The demand of a call that is a statement; None where it is not an assertion."""
    chain = _chain(node)
    root = chain[0][0]
    if root == "expect" and len(chain) > 1:
        assertion = _of_expect(chain, node)
        return (
            replace(assertion, strength=Strength.NONE)
            if assertion is not None and _is_dropped(chain, node)
            else assertion
        )
    if root in ("assert", "assertion") or (
        root == "t" and len(chain) == 2 and chain[1][0] in demands("javascript", "assert")
    ):
        return _of_assert(chain, node)
    if any(word == "should" for word, _ in chain):
        return _of_should(chain, node)
    return None


def _chain(node: Node) -> _Chain:
    """`expect(x).not.toBe(3)` as [("expect", (x,)), ("not", None), ("toBe", (3,))]."""
    links: _Chain = []
    given: tuple[Node, ...] | None = None
    current: Node | None = node
    while current is not None:
        if current.type == "call_expression":
            given = tuple(children(field(current, "arguments")))
            current = field(current, "function")
        elif current.type == "member_expression":
            links.append((text_of(field(current, "property")), given))
            given, current = None, field(current, "object")
        else:
            links.append((text_of(current), given))
            current = None
    return links[::-1]


def _is_dropped(chain: _Chain, node: Node) -> bool:
    """Whether a promise's failure reaches nobody: neither awaited nor returned, or caught and dropped."""
    words = {word for word, _ in chain}
    is_promise = not words.isdisjoint({"resolves", "rejects", "eventually"})
    return is_promise and ("catch" in words or is_a(node.parent, "expression_statement"))


def _of_expect(chain: _Chain, node: Node) -> Assertion | None:
    subject_nodes = chain[0][1]
    if not subject_nodes:
        return None
    words = [word for word, _ in chain[1:] if word not in words_of("javascript", "fillers")]
    if not words:
        return None
    given = next((given for _, given in reversed(chain[1:]) if given is not None), ())
    modes = tuple(word for word in words[:-1] if word in ("resolves", "rejects", "all"))
    subject = (*modes, *tokens(_called(subject_nodes[0])))
    return _judged(subject, words[-1], "not" in words[:-1], given, node)


def _called(node: Node) -> Node:
    """What a function given to expect calls: `() => total([])` is about `total([])`."""
    return (field(node, "body") if node.type == "arrow_function" else None) or node


def _judged(subject: Tokens, word: str, is_negated: bool, given: tuple[Node, ...], node: Node) -> Assertion:
    expected = tuple(token for argument in given for token in tokens(argument))
    line, text = line_of(node), text_of(node)[:200]
    if word in words_of("javascript", "throws"):
        return _thrown(subject, is_negated, given, node)
    if word in ("true", "True") or (word in words_of("javascript", "equal") and expected == ("true",)):
        word, expected = "toBeTruthy", ()
    if word in ("false", "False") or (word in words_of("javascript", "equal") and expected == ("false",)):
        word, expected = "toBeFalsy", ()
    if word == "toBeCloseTo":
        return _close(subject, given, node)
    operator, strength = demands("javascript", "matchers").get(word, ("", Strength.EXACT))
    if (word in words_of("javascript", "equal") or word in ("toMatchObject", "toHaveBeenCalledWith")) and given:
        strength = min(strength, _openness(text_of(given[0])))
    operator = "equal" if word in words_of("javascript", "equal") else operator or word
    if is_negated:
        operator, strength = _negated(operator, strength, word)
    return settled(Assertion(subject, operator, strength, line, expected, text=text))


def _openness(expected: str) -> Strength:
    """How much is left of a demand whose expected value holds matchers of its own."""
    if any(mark in expected for mark in _ANYTHING) or re.search(
        r"Containing\(\s*(?:\{\s*\}|\[\s*\]|['\"`]{2})", expected
    ):
        return Strength.LOOSE
    return Strength.PARTIAL if expected.startswith(_OPEN) else Strength.EXACT


def _negated(operator: str, strength: Strength, word: str) -> tuple[str, Strength]:
    if word in ("toBeNull", "toBeUndefined", "null", "undefined", "toBeNaN", "empty"):
        return f"not {operator}", Strength.LOOSE
    if word in ("toBeTruthy", "toBeDefined", "toHaveBeenCalled", "toBeCalled", "exist", "ok"):
        return f"not {operator}", Strength.EXACT
    return f"not {operator}", min(strength, Strength.PARTIAL)


def _thrown(subject: Tokens, is_negated: bool, given: tuple[Node, ...], node: Node) -> Assertion:
    expected = tuple(token for argument in given for token in tokens(argument))
    is_open = "".join(expected) in ("Error", "/.*/", "/.+/", "/./", '""', "/(?:)/")
    strength = Strength.PARTIAL if expected and not is_open else Strength.LOOSE
    operator = "not throws" if is_negated else "throws"
    return Assertion(subject, operator, strength, line_of(node), expected, text=text_of(node)[:200])


def _close(subject: Tokens, given: tuple[Node, ...], node: Node) -> Assertion:
    expected = tokens(given[0]) if given else ()
    digits = number_of(tokens(given[1])) if len(given) > 1 else 2.0
    tolerance = 0.5 * 10.0**-digits if digits is not None and abs(digits) < 100 else None
    text = text_of(node)[:200]
    return settled(Assertion(subject, "close", Strength.EXACT, line_of(node), expected, tolerance=tolerance, text=text))


def _of_assert(chain: _Chain, node: Node) -> Assertion | None:
    word, given = chain[-1]
    if not given:
        return None
    if len(chain) == 1:
        word = "ok"
    operator, strength = demands("javascript", "assert").get(word, (word, Strength.EXACT))
    if operator == "truthy":
        return _truth(given[0], node)
    if operator == "throws":
        return _thrown(tokens(_called(given[0])), False, given[1:2], node)
    expected = tokens(given[1]) if len(given) > 1 else ()
    assertion = Assertion(tokens(given[0]), operator, strength, line_of(node), expected, text=text_of(node)[:200])
    return settled(assertion)


def _truth(node: Node, call: Node) -> Assertion:
    """`assert(a === b)` demands as much as `assert.equal(a, b)`."""
    line, text = line_of(call), text_of(call)[:200]
    name = _COMPARISONS.get(text_of(field(node, "operator"))) if node.type == "binary_expression" else None
    if name is not None:
        strength = Strength.EXACT if name == "equal" else Strength.PARTIAL
        left, right = tokens(field(node, "left")), tokens(field(node, "right"))
        return settled(Assertion(left, name, strength, line, right, text=text))
    return settled(Assertion(tokens(node), "truthy", Strength.LOOSE, line, text=text))


def _of_should(chain: _Chain, node: Node) -> Assertion:
    place = next(index for index, (word, _) in enumerate(chain) if word == "should")
    subject = tuple(
        token for word, given in chain[:place] for token in (word, *(["(", ")"] if given is not None else []))
    )
    words = [word for word, _ in chain[place:] if word not in words_of("javascript", "fillers")] or ["ok"]
    given = chain[-1][1] or ()
    return _judged(subject, words[-1], "not" in words[:-1], given, node)
