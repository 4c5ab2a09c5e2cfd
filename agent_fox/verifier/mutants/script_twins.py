"""Tests of node --test, jest, vitest and mocha made false: the same test, with a false assertion at its end. And one
assertion turned round, and what stands around a line of tests.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.core.values import dataclass
from agent_fox.verifier.mutants.sites import Piece, Unreadable
from agent_fox.verifier.mutants.syntax import around, free_name, named, plain, put, tree
from agent_fox.verifier.policy.readers.trees import children, field, text_of, walk
from agent_fox.verifier.policy.values import Language

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tree_sitter import Node

_TESTS = frozenset({"it", "test", "specify", "fit", "ftest"})
_BLOCKS = frozenset({"describe", "suite", "context", "fdescribe"})
_NEVER_RED = frozenset({"skip", "todo", "fails", "failing"})
_FUNCTIONS = frozenset({"arrow_function", "function_expression", "function_declaration"})
_DONE = frozenset({"done", "cb", "callback", "next", "finish", "finished", "end"})
_LANGUAGES = (Language.JAVASCRIPT, Language.TYPESCRIPT, Language.TSX)
_ONCE = regex(r"\b(?:before|after)(?:All)?\(|\b(?:suiteSetup|suiteTeardown)\(")
_SPACE = regex(r"\s+>\s+|\s+")
_FORMAT = regex(r"%[a-zA-Z#%$]|\$[\w.#]+")
_ESCAPE = regex(r"\\(?:u\{([0-9a-fA-F]+)\}|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))", re.DOTALL)
_LETTERS = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0"}
_ANY = "\0"  # stands for any text in a title
_HELPERS = "\1"  # stands for the titles around a function that makes tests, which are known where it is called

_CODE = (
    "function NAME(fANY, isDoneANY)ANY { const failed = () => new Error(MARK); "
    "if (isDone) return Object.assign((eANY) => f(e || failed()), f); "
    "const r = f(), fail = () => { throw failed(); }; "
    'return r && typeof r.then === "function" ? r.then(fail) : fail(); }\n'
)


@dataclass(frozen=True, slots=True)
class _Test:
    """titles: with _ANY for what can't be read, the outermost first. callback: the expression that is the test."""

    titles: tuple[str, ...]
    callback: Node


def twin(text: str, titles: tuple[str, ...], name: str, mark: str, language: Language | None = None) -> str | None:
    """The text with this test false. Without a language: whichever takes the text. None where no such test is found."""
    tree = _tree(text, language)
    if tree is None:
        return None
    root, language = tree
    helper = free_name(text, "falseAtItsEnd")
    changes = [_changed(test.callback, root, helper) for test in _wanted(root, " ".join((*titles, name)))]
    pieces = {piece for change in changes for piece in change}
    if not all(changes) or not pieces:
        return None
    code = _CODE.replace("NAME", helper).replace("MARK", json.dumps(mark))
    code = code.replace("ANY", "" if language is Language.JAVASCRIPT else ": any")
    return put(text, pieces).removesuffix("\n") + "\n" + code


def turned(text: str, lines: Iterable[int], mark: str, language: Language) -> tuple[str, frozenset[int]]:
    """The text in which it is an error, with `mark`, that a statement on these lines, from 1, ends without one; and the
    lines on which that could be done.
    """
    parsed = _tree(text, language)
    if parsed is None:
        return text, frozenset()
    after, pieces, done = f"; throw new Error({json.dumps(mark)}); }}", list[Piece](), set[int]()
    for line in {*lines}:
        around_it = [node for node in walk(parsed[0]) if asserts(node) and line in _lines(node)]
        if around_it:
            inmost = min(around_it, key=lambda node: node.end_byte - node.start_byte)
            pieces += around(inmost, "{ ", after)
            done.add(line)
    return put(text, pieces), frozenset(done)


def asserts(node: Node) -> bool:
    """Whether it is a statement that is an expression, or one that an arrow has in the place of a body."""
    above = node.parent
    is_body = above is not None and above.type == "arrow_function" and field(above, "body") == node
    return node.type == "expression_statement" or (is_body and node.type in ("call_expression", "await_expression"))


def _lines(node: Node) -> range:
    return range(node.start_point[0] + 1, node.end_point[0] + 2)


def is_sheltered(text: str, line: int, language: Language) -> bool:
    """Whether a line stands in a `try`, which may keep an error to itself."""
    parsed = _tree(text, language) if "try" in text else None
    blocks = (node for node in walk(parsed[0]) if node.type == "try_statement") if parsed else ()
    return any((body := field(node, "body")) is not None and line in _lines(body) for node in blocks)


def is_for_others(text: str, line: int, language: Language) -> bool:
    """Whether a line stands in what is run once for all tests around it."""
    parsed = _tree(text, language) if _ONCE.search(text) else None
    calls = (node for node in walk(parsed[0]) if node.type == "call_expression") if parsed else ()
    return any(line in _lines(call) and _ONCE.fullmatch(f"{named(call, 'function')}(") for call in calls)


def _tree(text: str, language: Language | None) -> tuple[Node, Language] | None:
    for tried in (language,) if language is not None else _LANGUAGES:
        try:
            return tree(text, tried), tried
        except Unreadable:
            continue
    return None


# which test is meant


def _wanted(root: Node, called: str) -> list[_Test]:
    """The tests of this name; of several, those with the longest titles."""
    called = _SPACE.sub(" ", called).strip()
    matching = [test for test in _tests(root, ()) if re.fullmatch(_pattern(test.titles), called, re.DOTALL)]
    most = max((_length_of_titles(test) for test in matching), default=0)
    return [test for test in matching if _length_of_titles(test) == most]


def _length_of_titles(test: _Test) -> int:
    return sum(len(title.replace(_ANY, "")) for title in test.titles)


def _pattern(titles: tuple[str, ...]) -> str:
    spaced = (_SPACE.sub(" ", title).strip() for title in titles)
    parts = [re.escape(title).replace(re.escape(_ANY), ".*") for title in spaced]
    return " ".join(parts).replace(f"{_HELPERS} ", "(?:.* )?")


def _tests(node: Node, titles: tuple[str, ...]) -> Iterator[_Test]:
    words, each = _words(node) if node.type == "call_expression" else ((), False)
    known = [word for word in words if word in _TESTS | _BLOCKS]
    arguments = field(node, "arguments")
    given = children(arguments) if known and arguments is not None and arguments.type == "arguments" else []
    callback = _callback(given)
    if callback is None:
        inside = (*titles, _HELPERS) if node.type in _FUNCTIONS else titles
        for child in children(node):
            yield from _tests(child, inside)
        return
    whole = (*titles, _title(given[0], each))
    if known[-1] in _TESTS and _NEVER_RED.isdisjoint(words):
        yield _Test(whole, callback)
    for child in children(callback):
        yield from _tests(child, whole)


def _words(call: Node) -> tuple[tuple[str, ...], bool]:
    """`it.only` and `it.each(rows)` as words, and whether there are rows."""
    callee = field(call, "function")
    has_rows = callee is not None and callee.type == "call_expression"
    if callee is not None and has_rows:
        callee = field(callee, "function")
    if callee is None or callee.type not in ("identifier", "member_expression"):
        return (), False
    return tuple(text_of(callee)[:200].split(".")), has_rows


def _callback(given: list[Node]) -> Node | None:
    """The function among the arguments of a test, or what stands for it."""
    function = next((each for each in reversed(given) if each.type in _FUNCTIONS), None)
    named_one = given[-1] if len(given) > 1 and given[-1].type in ("identifier", "call_expression") else None
    numbered = given[1] if len(given) == 3 and given[2].type == "number" else None
    return function or named_one or numbered


def _title(node: Node, has_rows: bool) -> str:
    """The title that an expression gives, with _ANY for what only running it can tell."""
    text = text_of(node)
    match node.type:
        case "string":
            title = _ESCAPE.sub(_unescaped, text[1:-1])
        case "template_string":
            parts = (text_of(each) if each.type != "template_substitution" else _ANY for each in node.named_children)
            title = "".join(_ESCAPE.sub(_unescaped, part) for part in parts)
        case "binary_expression":
            return "".join(_title(each, has_rows) for each in children(node))
        case kind if kind in _FUNCTIONS:
            return named(node, "name")
        case _:
            return _ANY
    return _FORMAT.sub(_ANY, title) if has_rows else title


def _unescaped(found: re.Match[str]) -> str:
    code = found[1] or found[2] or found[3]
    return chr(int(code, 16)) if code else _LETTERS.get(found[4], found[4].strip("\n"))


# how it is made false


def _changed(callback: Node, root: Node, helper: str) -> tuple[Piece, ...]:
    """What is put into the test's function; nothing where that can't be done."""
    function = _function_of(callback, root)
    if function is None:
        return around(callback, f"function (...all) {{ return {helper}(() => (", ").apply(this, all)); }")
    body = field(function, "body")
    if body is None:
        return ()
    done = _done(function)
    is_async = any(child.type == "async" for child in function.children)
    begin, finish = f"{helper}({'async ' * is_async}() => ", ")"
    if body.type != "statement_block":
        if done:
            begin = f"({done} = {helper}({done}, true), "
        return around(body, begin, finish)
    if done:
        return ((body.start_byte + 1, body.start_byte + 1, f" {done} = {helper}({done}, true);"),)
    return (
        (body.start_byte + 1, body.start_byte + 1, f" return {begin}{{"),
        (body.end_byte - 1, body.end_byte - 1, "}); "),
    )


def _function_of(callback: Node, root: Node) -> Node | None:
    """The function that is written there, in a call around it, or elsewhere under its name."""
    callback = plain(callback)
    if callback.type in _FUNCTIONS:
        return callback
    if callback.type == "call_expression" and (arguments := field(callback, "arguments")) is not None:
        return next((child for child in reversed(children(arguments)) if child.type in _FUNCTIONS), None)
    for node in walk(root) if callback.type == "identifier" else ():
        if node.type in ("function_declaration", "variable_declarator") and named(node, "name") == text_of(callback):
            function = field(node, "value") if node.type == "variable_declarator" else node
            return function if function is not None and function.type in _FUNCTIONS else None
    return None


def _done(function: Node) -> str:
    """The name of the parameter that is called when the test has ended; empty for a test without one."""
    given = field(function, "parameters")
    last = children(given)[-1:] if given is not None else []
    single = field(function, "parameter")
    names = [named(each, "pattern") or text_of(each) for each in last] or ([text_of(single)] if single else [])
    is_async = any(child.type == "async" for child in function.children)
    return names[0] if names and names[0] in _DONE and not is_async else ""
