"""What an assertion in Java demands: JUnit's calls, AssertJ's chains, Hamcrest's matchers, Mockito's verify."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from agent_fox.verifier.policy.expressions import Tokens, joined, number_of
from agent_fox.verifier.policy.readers.trees import children, field, is_a, line_of, text_of, tokens
from agent_fox.verifier.policy.readers.words import demands, words_of
from agent_fox.verifier.policy.reading import Assertion, Strength, settled

if TYPE_CHECKING:
    from tree_sitter import Node


def arguments_of(node: Node) -> list[Node]:
    return children(field(node, "arguments"))


def assertions_of_call(node: Node) -> tuple[Assertion, ...]:
    """The demands of a call, one for each link of a chain; none where it is not an assertion."""
    assertion = _of_call(node)
    return (assertion,) if assertion is not None else tuple(_of_chain(node))


def _of_call(node: Node) -> Assertion | None:
    name = text_of(field(node, "name") or node)
    given = arguments_of(node)
    if name.startswith("assertThrows") and len(given) > 1:
        return _thrown(given, node)
    if name == "fail":
        return Assertion(("fail",), "fails", Strength.EXACT, line_of(node))
    if name in ("assertTrue", "assertFalse", "assertNull", "assertNotNull") and given:
        return _of_one(name, given, node)
    if name in demands("java", "calls") and len(given) > 1:
        return _of_two(name, given, node)
    if name == "assertThat" and len(given) > 1:
        return _hamcrest(given, node)
    return None


def _thrown(given: list[Node], node: Node, subject: Tokens = ()) -> Assertion:
    """`assertThrows(A.class, () -> call)`; `subject` where the call stands elsewhere."""
    error = tokens(given[0])
    strength = Strength.LOOSE if error and error[0] in words_of("java", "broad") else Strength.PARTIAL
    subject = subject or tokens(field(given[1], "body") or given[1])
    return Assertion(subject, "throws", strength, line_of(node), error, text=text_of(node)[:200])


def _of_one(name: str, given: list[Node], node: Node) -> Assertion:
    subject_node = next((each for each in given if each.type != "string_literal"), given[0])
    line, text = line_of(node), text_of(node)[:200]
    if name == "assertNotNull":
        return settled(Assertion(tokens(subject_node), "is something", Strength.LOOSE, line, text=text))
    if name == "assertNull":
        return settled(Assertion(tokens(subject_node), "is none", Strength.EXACT, line, text=text))
    operator = text_of(field(subject_node, "operator")) if subject_node.type == "binary_expression" else ""
    if name == "assertTrue" and operator in ("==", ">", "<", ">=", "<=", "!="):
        word, strength = ("equal", Strength.EXACT) if operator == "==" else (operator, Strength.PARTIAL)
        left, right = tokens(field(subject_node, "left")), tokens(field(subject_node, "right"))
        return settled(Assertion(left, word, strength, line, right, text=text))
    is_equality = ".equals(" in text_of(subject_node)
    strength = Strength.EXACT if is_equality else Strength.LOOSE
    if name == "assertFalse":
        strength = Strength.PARTIAL
    return settled(Assertion(tokens(subject_node), name, strength, line, text=text))


def _of_two(name: str, given: list[Node], node: Node) -> Assertion:
    operator, strength = demands("java", "calls")[name]
    if (
        given[0].type == "string_literal"
        and len(given) > 2
        and given[2].type != "string_literal"
        and _is_message(given)
    ):
        given = given[1:]
    expected, subject = tokens(given[0]), tokens(given[1])
    tolerance = number_of(tokens(given[2])) if len(given) > 2 else None
    operator = "close" if tolerance is not None and operator == "equal" else operator
    return settled(
        Assertion(subject, operator, strength, line_of(node), expected, tolerance=tolerance, text=text_of(node)[:200])
    )


def _is_message(given: list[Node]) -> bool:
    """JUnit 4 puts the message first: then the last argument is what the code says, not a tolerance."""
    return given[-1].type not in ("decimal_floating_point_literal", "decimal_integer_literal")


def _hamcrest(given: list[Node], node: Node) -> Assertion:
    subject, matcher = given[-2], tokens(given[-1])
    word = matcher[0] if matcher else ""
    is_negated = word in ("not", "notNullValue", "anything")
    strength = Strength.LOOSE if is_negated else Strength.EXACT if word in ("is", "equalTo") else Strength.PARTIAL
    return settled(Assertion(tokens(subject), word, strength, line_of(node), matcher[1:], text=text_of(node)[:200]))


def _of_chain(node: Node) -> Iterator[Assertion]:
    """`assertThat(x).isNotNull().isEqualTo(3)`, `assertThatThrownBy(…).isInstanceOf(…)`, `verify(mock).call(3)`."""
    links = [node]
    while is_a(inner := field(links[-1], "object"), "method_invocation"):
        links.append(inner)
    root = links.pop()
    word, given = text_of(field(root, "name") or root), arguments_of(root)
    if not given or not links:
        return
    if word == "verify":
        yield _verified(given, links[-1], node)
    elif word in words_of("java", "roots"):
        subject = tokens(field(given[0], "body") or given[0])
        for link in reversed(links):
            yield _link(subject, link, node, is_about_error="Thrown" in word)


def _link(subject: Tokens, link: Node, node: Node, is_about_error: bool) -> Assertion:
    word = text_of(field(link, "name") or link)
    if is_about_error and word in ("isInstanceOf", "isExactlyInstanceOf"):
        return _thrown([*arguments_of(link), node], link, subject)
    expected = tuple(token for argument in arguments_of(link) for token in tokens(argument))
    operator, strength = demands("java", "chains").get(word, ("", Strength.EXACT))
    if word == "isInstanceOf" and expected[:1] and expected[0] in words_of("java", "broad"):
        strength = Strength.LOOSE
    return settled(Assertion(subject, operator or word, strength, line_of(node), expected, text=text_of(node)[:200]))


def _verified(given: list[Node], called: Node, node: Node) -> Assertion:
    """`verify(mock, times(2)).call(3)`: how often, and with what."""
    often = tokens(given[1]) if len(given) > 1 else ()
    text = joined(often)
    strength = Strength.PARTIAL if "atLeast" in text or "atMost" in text else Strength.EXACT
    if "atLeast ( 0" in text:
        strength = Strength.NONE
    subject = (*tokens(given[0]), ".", text_of(field(called, "name") or called))
    arguments = tuple(token for argument in arguments_of(called) for token in (*tokens(argument), ","))
    return Assertion(subject, "verify", strength, line_of(node), (*arguments, *often), text=text_of(node)[:200])
