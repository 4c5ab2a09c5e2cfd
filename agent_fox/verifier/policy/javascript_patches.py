"""Stand-ins that JavaScript tests put in the place of code: module mocks, spies with an answer, assignments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from agent_fox.verifier.policy.reading import Patch
from agent_fox.verifier.policy.trees import children, field, line_of, text_of, walk

if TYPE_CHECKING:
    from tree_sitter import Node

_MOCKERS = frozenset(
    {
        f"{tool}.{word}"
        for tool in ("jest", "vi", "mock")
        for word in ("mock", "doMock", "unstable_mockModule", "module")
    }
)
_ANSWERS = (
    "mockReturn",
    "mockImpl",
    "mockResolved",
    "mockRejected",
    "returns",
    "callsFake",
    "resolves",
    "callFake",
    "and.",
)


def patches_of(node: Node, imports: Mapping[str, str]) -> Iterator[Patch]:
    """What one node replaces."""
    if node.type == "call_expression":
        yield from _of_call(node)
    elif node.type == "assignment_expression":
        yield from _of_assignment(node, imports)


def _of_call(node: Node) -> Iterator[Patch]:
    callee, arguments = field(node, "function"), field(node, "arguments")
    if callee is None or arguments is None:
        return
    word, given = text_of(callee), children(arguments)
    if word in _MOCKERS and given:
        yield Patch(text_of(given[0]).strip("'\"`"), _replaced_keys(given), line_of(node), text_of(node)[:200])
    elif word.rpartition(".")[2] in ("spyOn", "stub", "replace") and len(given) > 1 and _answers(node, word):
        name = text_of(given[1]).strip("'\"`")
        yield Patch(text_of(given[0]), (name,), line_of(node), text_of(node)[:200])


def _answers(node: Node, word: str) -> bool:
    """Whether a spy also answers; one that only watches replaces nothing."""
    if not word.endswith("spyOn"):
        return True
    parent = node.parent
    return parent is not None and any(answer in text_of(parent)[len(text_of(node)) :] for answer in _ANSWERS)


def _replaced_keys(given: list[Node]) -> tuple[str, ...]:
    """What a factory replaces where it keeps the rest; nothing named means everything."""
    if len(given) < 2 or not any(
        word in text_of(given[1]) for word in ("requireActual", "importActual", "importOriginal")
    ):
        return ()
    keys = (field(pair, "key") for pair in walk(given[1]) if pair.type == "pair")
    return tuple(text_of(key) for key in keys if key is not None) or ("",)


def _of_assignment(node: Node, imports: Mapping[str, str]) -> Iterator[Patch]:
    left, right = field(node, "left"), field(node, "right")
    if left is None or right is None or left.type != "member_expression":
        return
    owner, name = field(left, "object"), field(left, "property")
    is_function = right.type in ("arrow_function", "function_expression") or text_of(right).startswith(
        ("jest.fn", "vi.fn", "sinon.")
    )
    if owner is not None and name is not None and is_function and (text_of(owner) in imports or not imports):
        yield Patch(text_of(owner), (text_of(name),), line_of(node), text_of(node)[:200])
