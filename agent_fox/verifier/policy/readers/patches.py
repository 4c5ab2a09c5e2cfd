"""Stand-ins that tests put in the place of code, in all languages: patches, mocks of modules, spies that answer, and
assignments.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from agent_fox.verifier.policy.readers.trees import children, field, is_a, line_of, text_of, walk
from agent_fox.verifier.policy.reading import Patch
from agent_fox.verifier.policy.tables import kinds, roles, says, words_of

if TYPE_CHECKING:
    from tree_sitter import Node

LONGEST_SHOWN = 200  # characters
_Found = Iterator[tuple[str, tuple[str, ...]]]
"""Modules, or what names are asked of, and the names."""


def patch_of(node: Node, language: str, imports: Mapping[str, str] | None = None) -> Iterator[Patch]:
    """What one call or assignment replaces. imports: where only what is imported counts as an owner."""
    is_call = roles().get(node.type) == "call"
    of = (_OF_CALLS if is_call else _OF_ASSIGNMENTS).get(language) if node.type in kinds("replacing") else None
    for module, names in of(node) if of is not None else ():
        if is_call or imports is None or module in imports:
            yield Patch(module, names, line_of(node), text_of(node)[:LONGEST_SHOWN])


def _plain(node: Node | None) -> str:
    """What a string says, and anything else as it is written."""
    return text_of(node).strip("'\"`")


def _of_call_in_python(node: Node) -> _Found:
    """`patch("a.b.c")`, `patch.object(b, "c")`, `monkeypatch.setattr(b, "c", ...)`, `setitem(sys.modules, "a", ...)`"""
    words = text_of(field(node, "function")).split(".")
    is_patch = "patch" in words or words[0] in words_of("python", "patchers") - {"setattr"}
    given = children(field(node, "arguments")) if is_patch or words == ["setattr"] else []
    owner = text_of(given[0]) if given else ""
    if owner[:1] in ("'", '"'):
        module, _, name = _plain(given[0]).rpartition(".")
        yield module, (name,)
    elif words[-1] in ("setattr", "setitem", "object", "dict") and len(given) > 1 and is_a(given[1], "Constant"):
        yield (_plain(given[1]), ()) if owner.endswith("sys.modules") else (owner, (_plain(given[1]),))


def _of_assignment_in_python(node: Node) -> _Found:
    """`module.name = stub` and `sys.modules["a"] = stub`; an attribute of `self` is the test's own."""
    for target in children(field(node, "targets")):
        owner, name = field(target, "value"), text_of(field(target, "attr"))
        if is_a(target, "Attribute") and is_a(owner, "Name") and text_of(owner) not in ("self", "cls"):
            if not is_a(field(node, "value"), "Constant") or name[:1].islower():
                yield text_of(owner), (name,)
        elif is_a(target, "Subscript") and text_of(owner).rpartition(".")[2] == "modules":
            yield _plain(field(target, "slice")), ()


def _of_call_in_javascript(node: Node) -> _Found:
    """`jest.mock("../cart")`, of whose factory the keys count where it keeps the rest, and a spy that answers."""
    word, given = text_of(field(node, "function")), children(field(node, "arguments"))
    if word in words_of("javascript", "mockers") and given:
        is_partial = len(given) > 1 and says("javascript", "keeping", text_of(given[1]))
        keys = (field(pair, "key") for pair in walk(given[1], "pair")) if is_partial else ()
        yield _plain(given[0]), tuple(text_of(key) for key in keys if key is not None) or ("",) * is_partial
    elif word.rpartition(".")[2] in ("spyOn", "stub", "replace") and len(given) > 1:
        answer = text_of(node.parent)[len(text_of(node)) :]
        if not word.endswith("spyOn") or says("javascript", "answers", answer):
            yield text_of(given[0]), (_plain(given[1]),)


def _of_assignment_in_javascript(node: Node) -> _Found:
    left, right = field(node, "left"), field(node, "right")
    is_stub = is_a(right, *kinds("functions")) or text_of(right).startswith(("jest.fn", "vi.fn", "sinon."))
    if is_a(left, "member_expression") and is_stub:
        yield text_of(field(left, "object")), (text_of(field(left, "property")),)


def _of_call_in_java(node: Node) -> _Found:
    """`when(cart.total()).thenReturn(…)` replaces `total`."""
    if text_of(field(node, "name")) in ("when", "doReturn"):
        for argument in children(field(node, "arguments")):
            if is_a(argument, "method_invocation") and (owner := field(argument, "object")) is not None:
                yield text_of(owner), (text_of(field(argument, "name")),)


_OF_CALLS = {"python": _of_call_in_python, "javascript": _of_call_in_javascript, "java": _of_call_in_java}
_OF_ASSIGNMENTS = {"python": _of_assignment_in_python, "javascript": _of_assignment_in_javascript}
