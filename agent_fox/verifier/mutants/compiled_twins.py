"""Tests of Go, Java and Rust made false: the same test, with a false assertion at its end."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.verifier.mutants.sites import Piece, Unreadable
from agent_fox.verifier.mutants.syntax import free_name, named, put, tree
from agent_fox.verifier.policy.readers.trees import children, field, text_of, walk
from agent_fox.verifier.policy.values import Language

if TYPE_CHECKING:
    from tree_sitter import Node

_EXPECTS_FAILURE = regex(r"expected(?:Exceptions)?\s*=|should_panic")
_ARGUMENTS = regex(r"[(\[{ ]")


def twin(text: str, classes: tuple[str, ...], function: str, mark: str, language: Language) -> str | None:
    """The text with this test false. None where it is not found, or is one that has to fail.

    A subtest of Go that is written in its test is made false itself; for any other the test around it is.
    """
    try:
        root = tree(text, language)
    except Unreadable:
        return None
    free = free_name(text, "itself")
    match language:
        case Language.GO:
            pieces = _go(root, [part for name in (*classes, function) for part in name.split("/")], mark)
        case Language.JAVA:
            pieces = _java(root, _parts((*classes, function), "."), mark, free)
        case _:
            names = _parts((*classes, function), "::") if "(line " not in function else []  # none in a comment
            pieces = _rust(root, names, mark, free) or _rust(root, names[:-1], mark, free)
    return put(text, pieces) if pieces else None


def _parts(names: tuple[str, ...], between: str) -> list[str]:
    """The names of what is around a test and its own, without the arguments that runners show behind it."""
    *around, last = names
    parts = [part for name in around for part in name.replace("$", between).split(between)]
    return [*parts, *_ARGUMENTS.split(last, maxsplit=1)[0].split(between)]


def _go(root: Node, names: list[str], mark: str) -> list[Piece]:
    functions = {named(child, "name"): child for child in children(root) if child.type == "function_declaration"}
    methods = {named(child, "name"): child for child in children(root) if child.type == "method_declaration"}
    test = functions.get(names[0])
    if test is None:
        test = methods.get(names[-1])
    elif len(names) > 1 and (names[1] in methods):
        test = methods[names[1]]
    else:
        test = _subtest(test, names[1:])
    body = field(test, "body") if test is not None else None
    given = field(test, "parameters") if test is not None else None
    if body is None or given is None:
        return []
    first = named(children(given)[0], "name") if children(given) else ""
    quoted = json.dumps(mark)
    ending = f"{first}.Fatal({quoted})" if first not in ("", "_") else f"panic({quoted})"
    return [
        (body.start_byte + 1, body.start_byte + 1, " func() {"),
        (body.end_byte - 1, body.end_byte - 1, f"}}(); {ending} "),
    ]


def _subtest(test: Node, names: list[str]) -> Node:
    """The function that `t.Run` gets under these names, as deep as it can be seen; for seeds, the one of `f.Fuzz`."""
    body = field(test, "body")
    calls = [node for node in walk(body) if _calls(node) in (".Run", ".Fuzz")] if names and body is not None else []
    seeded = next((node for node in calls if _calls(node) == ".Fuzz"), None)
    if seeded is not None:
        return children(seeded)[0]
    runs = [node for node in calls if len(children(node)) == 2]
    for wanted in (f'"{names[0]}"', "") if names else ():
        for run in sorted(runs, key=lambda node: node.start_byte):
            title, function = children(run)[0], children(run)[-1]
            is_text = title.type.endswith("string_literal")
            if (text_of(title).replace(" ", "_") == wanted) if wanted else not is_text:
                return _subtest(function, names[1:])
    return test


def _calls(node: Node) -> str:
    """The name of the method of whose call these are the arguments, of which the last is a function; else empty."""
    call = node.parent if node.type == "argument_list" and children(node) else None
    if call is None or children(node)[-1].type != "func_literal":
        return ""
    _, dot, name = named(call, "function").rpartition(".")
    return f"{dot}{name}"


def _java(root: Node, names: list[str], mark: str, free: str) -> list[Piece]:
    """The body becomes a method of its own, which the test calls before it fails."""
    pieces = []
    for method in walk(root):
        body, given = field(method, "body"), field(method, "parameters")
        if method.type != "method_declaration" or named(method, "name") != names[-1] or body is None or given is None:
            continue
        modifiers = next((text_of(each) for each in method.named_children if each.type == "modifiers"), "")
        outer = names[-2] if len(names) > 1 else ""
        if "@" not in modifiers or _EXPECTS_FAILURE.search(modifiers) or outer not in ("", _class_around(method)):
            continue
        words = " ".join(word for word in ("static", "default") if word in modifiers.split())
        throws = next((text_of(each) for each in method.named_children if each.type == "throws"), "")
        kinds = next((text_of(each) for each in method.named_children if each.type == "type_parameters"), "")
        called = ", ".join(named(each, "name") for each in children(given))
        head = f"{words} {kinds} {named(method, 'type')} {free}{text_of(given)} {throws} ".lstrip()
        fails = f"{{ {free}({called}); throw new AssertionError({json.dumps(mark)}); }} {head}"
        pieces.append((body.start_byte, body.start_byte, fails))
    return pieces if len(pieces) == 1 else []


def _class_around(node: Node) -> str:
    above = node.parent
    while above is not None and field(above, "name") is None:
        above = above.parent
    return named(above, "name") if above is not None else ""


def _rust(root: Node, names: list[str], mark: str, free: str) -> list[Piece]:
    """The body becomes a function within the test, which is called before the test fails."""
    functions = [node for node in walk(root) if node.type == "function_item" and [named(node, "name")] == names[-1:]]
    tests = [node for node in functions if "#[" in _marks(node)]
    inside = [node for node in tests if [*_modules(node), names[-1]] == names[-len(_modules(node)) - 1 :]]
    test = next(iter(inside or tests), None)
    body = field(test, "body") if test is not None else None
    given = field(test, "parameters") if test is not None else None
    if test is None or body is None or given is None or _EXPECTS_FAILURE.search(_marks(test)):
        return []
    parameters = [each for each in children(given) if each.type == "parameter"]
    result = named(test, "return_type")
    modifiers = next((text_of(each) for each in test.named_children if each.type == "function_modifiers"), "")
    called = f"{free}({', '.join(named(each, 'pattern').removeprefix('mut ') for each in parameters)})"
    called += ".await" if "async" in modifiers else ""
    head = f"{modifiers} fn {free}({', '.join(map(text_of, parameters))})".lstrip() + (
        f" -> {result}" if result else ""
    )
    return [
        (body.start_byte + 1, body.start_byte + 1, f" {head} {{"),
        (body.end_byte - 1, body.end_byte - 1, f'}} let _ = {called}; panic!("{{}}", {json.dumps(mark)}); '),
    ]


def _marks(function: Node) -> str:
    """The attributes in front of a function."""
    marks = []
    before = function.prev_named_sibling
    while before is not None and before.type in ("attribute_item", "line_comment", "block_comment"):
        marks.append(text_of(before) if before.type == "attribute_item" else "")
        before = before.prev_named_sibling
    return "".join(marks)


def _modules(node: Node) -> list[str]:
    modules: list[str] = []
    above = node.parent
    while above is not None:
        if above.type == "mod_item":
            modules.insert(0, named(above, "name"))
        above = above.parent
    return modules
