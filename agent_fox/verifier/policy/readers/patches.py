"""Stand-ins that tests put in the place of code, in all languages: patches, mocks of modules, spies that answer, and
assignments.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from agent_fox.verifier.policy.readers.trees import children, field, is_a, line_of, text_of, walk
from agent_fox.verifier.policy.readers.words import kinds, roles, says, words_of
from agent_fox.verifier.policy.reading import Patch

if TYPE_CHECKING:
    from tree_sitter import Node

LONGEST_SHOWN = 200  # characters
_KINDS = ("call_expression", "method_invocation", "Call", "assignment_expression", "Assign")
_SETTERS = frozenset({"setattr", "setitem", "object", "dict"})


def patches_in(node: Node | None, language: str) -> Iterator[Patch]:
    """What a function replaces, its decorators included."""
    for inner in walk(node, *_KINDS) if language in _OF_CALLS else ():
        yield from patch_of(inner, language)


def patch_of(node: Node, language: str, imports: Mapping[str, str] | None = None) -> Iterator[Patch]:
    """What one call or assignment replaces. imports: where only what is imported counts as an owner."""
    is_call = roles().get(node.type) == "call"
    if node.type in _KINDS:
        of = _OF_CALLS[language] if is_call else _OF_ASSIGNMENTS.get(language, lambda _: iter(()))
        for module, names in of(node):
            if is_call or imports is None or module in imports:
                yield Patch(module, names, line_of(node), text_of(node)[:LONGEST_SHOWN])


_Found = Iterator[tuple[str, tuple[str, ...]]]


def _given(call: Node) -> list[Node]:
    return children(field(call, "arguments"))


def _plain(node: Node) -> str:
    """What a string says, and anything else as it is written."""
    return text_of(node).strip("'\"`")


def _of_call_in_python(node: Node) -> _Found:
    """`patch("a.b.c")`, `patch.object(b, "c")`, `monkeypatch.setattr(b, "c", ...)`, `setitem(sys.modules, "a", ...)`"""
    words, given = text_of(field(node, "function")).split("."), _given(node)
    is_patch = "patch" in words or words[0] in ("monkeypatch", "mocker", "mp")
    if not given or (not is_patch and words != ["setattr"]):
        return
    texts = [text_of(each) for each in given]
    if texts[0][:1] in "'\"":
        module, _, name = _plain(given[0]).rpartition(".")
        yield module, (name,)
    elif words[-1] in _SETTERS and len(given) > 1 and is_a(given[1], "Constant"):
        name = _plain(given[1])
        yield (name, ()) if texts[0].endswith("sys.modules") else (texts[0], (name,))


def _of_assignment_in_python(node: Node) -> _Found:
    """`module.name = stub` and `sys.modules["a"] = stub`; an attribute of `self` is the test's own."""
    for target in children(field(node, "targets")):
        owner, value = field(target, "value"), field(node, "value")
        name = text_of(field(target, "attr"))
        if is_a(target, "Attribute") and is_a(owner, "Name") and text_of(owner) not in ("self", "cls"):
            if not is_a(value, "Constant") or name[:1].islower():
                yield text_of(owner), (name,)
        elif is_a(target, "Subscript") and text_of(owner).rpartition(".")[2] == "modules":
            yield text_of(field(target, "slice")).strip("'\""), ()


def _of_call_in_javascript(node: Node) -> _Found:
    word, given = text_of(field(node, "function")), _given(node)
    if word in words_of("javascript", "mockers") and given:
        yield _plain(given[0]), _replaced_keys(given)
    elif word.rpartition(".")[2] in ("spyOn", "stub", "replace") and len(given) > 1:
        answer = text_of(node.parent)[len(text_of(node)) :]
        if not word.endswith("spyOn") or says(
            "javascript", "answers", answer
        ):  # one that only watches replaces nothing
            yield text_of(given[0]), (_plain(given[1]),)


def _replaced_keys(given: list[Node]) -> tuple[str, ...]:
    """What a factory replaces where it keeps the rest; nothing named means everything."""
    if len(given) < 2 or not says("javascript", "keeping", text_of(given[1])):
        return ()
    keys = (field(pair, "key") for pair in walk(given[1]) if pair.type == "pair")
    return tuple(text_of(key) for key in keys if key is not None) or ("",)


def _of_assignment_in_javascript(node: Node) -> _Found:
    left, right = field(node, "left"), field(node, "right")
    is_stub = text_of(right).startswith(("jest.fn", "vi.fn", "sinon."))
    if is_a(left, "member_expression") and (is_stub or is_a(right, *kinds("functions"))):
        yield text_of(field(left, "object")), (text_of(field(left, "property")),)


def _of_call_in_java(node: Node) -> _Found:
    """`when(cart.total()).thenReturn(…)` replaces `total`."""
    for argument in _given(node) if text_of(field(node, "name")) in ("when", "doReturn") else ():
        owner = field(argument, "object")
        if is_a(argument, "method_invocation") and owner is not None:
            yield text_of(owner), (text_of(field(argument, "name")),)


_OF_CALLS = {"python": _of_call_in_python, "javascript": _of_call_in_javascript, "java": _of_call_in_java}
_OF_ASSIGNMENTS = {"python": _of_assignment_in_python, "javascript": _of_assignment_in_javascript}
