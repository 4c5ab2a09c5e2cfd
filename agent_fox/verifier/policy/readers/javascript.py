"""Tests in JavaScript and TypeScript: blocks of jest, vitest, mocha, uvu, `node --test`, and the stand-ins in them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from agent_fox.verifier.policy.readers.calls import LONGEST_SHOWN, Call, names_in, table, table_of_loop
from agent_fox.verifier.policy.readers.definitions import Around, Definitions
from agent_fox.verifier.policy.readers.steps import is_never
from agent_fox.verifier.policy.readers.trees import Node, children, field, first, is_a, line_of, plain, text_of, walk
from agent_fox.verifier.policy.reading import Function, Reading, Skip
from agent_fox.verifier.policy.tables import kinds, roles, says, words_of


class JavaScriptDefinitions(Definitions):
    """The rules of runners that are told of tests by calls."""

    language = "javascript"

    def reading(self) -> Reading:
        nodes = list(walk(self.root, "import_statement", "variable_declarator", *kinds("replacing")))
        imports, offered = tuple(_imports(nodes)), list(_offered(self.root))
        self._values = dict(reversed(offered))
        replaced = [(node, patch) for node in nodes for patch in self.patches_by(node)]
        self.replaced, known = tuple(patch for _, patch in replaced), dict(imports)
        outside = (
            patch
            for node, patch in replaced
            if (node.type == "call_expression" or not known or patch.module in known) and not self._is_in_test(node)
        )
        return Reading(
            functions=(
                *self._statements(children(self.root), Around()),
                *(each for name, value in offered for each in self._helper(name, value)),
                *self._hooks(nodes),
            ),
            imports=imports,
            patches=tuple(outside),
            defined=frozenset(name for name, _ in offered),
        )

    def stand_ins(self, node: Node) -> Iterator[tuple[str, tuple[str, ...]]]:
        """`jest.mock(…)`, with the keys of a factory that keeps the rest, spies that answer, functions assigned."""
        left, right = field(node, "left"), field(node, "right")
        word, given = text_of(field(node, "function")), children(field(node, "arguments"))
        if word in words_of("javascript", "mockers") and given:
            is_partial = len(given) > 1 and says("javascript", "keeping", text_of(given[1]))
            keys = (field(pair, "key") for pair in walk(given[1], "pair")) if is_partial else ()
            yield plain(given[0]), tuple(text_of(key) for key in keys if key is not None) or ("",) * is_partial
        elif word.rpartition(".")[2] in ("spyOn", "stub", "replace") and len(given) > 1:
            answer = text_of(node.parent)[len(text_of(node)) :]
            if not word.endswith("spyOn") or says("javascript", "answers", answer):
                yield text_of(given[0]), (plain(given[1]),)
        is_made = is_a(right, *kinds("functions")) or text_of(right).startswith(("jest.fn", "vi.fn", "sinon."))
        if node.type == "assignment_expression" and is_a(left, "member_expression") and is_made:
            yield text_of(field(left, "object")), (text_of(field(left, "property")),)

    def _statements(self, nodes: Iterable[Node], around: Around) -> Iterator[Function]:
        """The tests that these make: none behind a `return`; behind `if (…) return` only where that doesn't hold."""
        for node in nodes:
            call = _call_in(node)
            words, given_rows = self._words_of(call) if call is not None else ([], None)
            if call is not None and words:
                yield from self._of_block(call, words, given_rows, around)
            elif roles().get(node.type) == "loop":
                rows = table_of_loop(node)  # for each row of which it makes its tests once
                inside = around if rows is None else around._replace(wraps=(*around.wraps, rows))
                is_never = rows is not None and not rows.rows
                inside = _skipping(around, Skip("a loop over nothing", line_of(node))) if is_never else inside
                yield from self._statements(children(field(node, "body")), inside)
            elif node.type in ("if_statement", "statement_block", "else_clause"):
                yield from self._statements(children(node), _with_condition(node, around))
            elif call is not None:
                yield from (each for body in Call(call).bodies() for each in self._statements(children(body), around))
            then = field(node, "consequence") if node.type == "if_statement" else None
            if node.type == "return_statement":
                around = _skipping(around, Skip("return", line_of(node)))
            elif is_a(then, "return_statement") or first(then, "return_statement") is not None:
                around = _with_condition(node, around)

    def _of_block(self, call: Node, words: list[str], given_rows: Node | None, around: Around) -> Iterator[Function]:
        """The test, or those within a block. given_rows: those of `it.each`, or under which condition it is skipped."""
        arguments = children(field(call, "arguments"))
        callback = next((each for each in reversed(arguments) if each.type in kinds("functions")), None)
        title, body, rows = plain(next(iter(arguments), None)), field(callback, "body"), None
        parameters, listed = field(callback, "parameters") or field(callback, "parameter"), first(given_rows)
        if parameters is not None and listed is not None and "each" in words:
            rows = table(listed, tuple(names_in(parameters)))
        inside = Around(
            (*around.names, title),
            (*around.skips, *_skips(words, arguments, text_of(given_rows), line_of(call))),
            is_focused=around.is_focused or "only" in words or words[0] in ("fit", "fdescribe", "ftest"),
            wraps=around.wraps if rows is None else (*around.wraps, rows),
        )
        if words[0] not in words_of("javascript", "tests"):
            yield from self._statements(children(body), inside)
        elif callback is not None or "todo" in words:
            steps = self.steps(body)
            for wrap in reversed(inside.wraps):
                steps = (wrap._replace(steps=steps),)
            yield Function(
                name="::".join(inside.names),
                line=line_of(call),
                is_test=self.is_test_file,
                steps=steps,
                skips=(*inside.skips, *self.early_ends(body)),
                patches=self.patches(body) if body is not None else (),
                is_focused=inside.is_focused,
                shape=self.shape(body),
                said=title,
            )

    def _hooks(self, nodes: list[Node]) -> Iterator[Function]:
        """What runs before or after each test, or all of them."""
        for node in (each for each in nodes if each.type == "call_expression"):
            callee = field(node, "function")
            name = text_of(callee) if is_a(callee, "identifier") else ""
            for body in Call(node).bodies() if name in words_of("javascript", "setting_up") else ():
                skips = tuple(self.early_ends(body))
                yield Function(name, line_of(node), False, skips=skips, is_hook=True, is_for_all=True)

    def _helper(self, name: str, function: Node) -> Iterator[Function]:
        body = field(function, "body")
        if is_a(function, *kinds("functions")) and body is not None:
            given = (text_of(field(each, "pattern") or each) for each in children(field(function, "parameters")))
            steps = self.steps(body)
            yield Function(name, line_of(function), False, tuple(given), steps, shape=self.shape(body))

    def _words_of(self, call: Node) -> tuple[list[str], Node | None]:
        """`it`, `skip` of `it.skip("…", fn)`, with the rows of `describe.each([…])("…", fn)`; no words where none
        are made. `(condition ? it : it.skip)("…", fn)` runs only where the condition holds.
        """
        rows, callee = None, field(call, "function")
        if is_a(callee, "call_expression"):
            rows, callee = field(callee, "arguments"), field(callee, "function")
        if callee is None:
            return [], None
        stands_for = self._declared(callee, call)
        is_suite = is_a(stands_for, "call_expression") and text_of(field(stands_for, "function")) == "suite"
        callee = stands_for if stands_for is not None and not is_suite else callee
        inner = first(callee) if callee.type == "parenthesized_expression" else callee
        is_either = is_a(inner, "ternary_expression")
        sides = [field(inner, side) for side in ("consequence", "alternative")] if is_either else []
        callee = min(filter(None, sides), key=lambda side: len(text_of(side)), default=callee)
        words = text_of(callee).split(".") if callee.type in ("identifier", "member_expression") else [""]
        words = [*(["test", *words[1:]] if is_suite else words), *(["skip"] if sides else [])]
        return (words if _makes_tests(words[0]) and all(map(str.isidentifier, words)) else []), rows

    def _declared(self, callee: Node, call: Node) -> Node | None:
        """What a name called like a block stands for: `condition ? describe : describe.skip`, `suite("cart")`."""
        name, _, modifier = text_of(callee).partition(".")
        value = self._values.get(name) if modifier in ("", "skip", "only") and not _makes_tests(name) else None
        is_chosen = not modifier and is_a(value, "ternary_expression", "member_expression")
        return value if (is_chosen or is_a(value, "call_expression")) and Call(call).bodies() else None

    def _is_in_test(self, node: Node | None) -> bool:
        """Whether a node holds for one test alone; hooks such as beforeEach hold for the whole file."""
        while node is not None:
            words, _ = self._words_of(node) if node.type == "call_expression" else ([], None)
            if words and words[0] in words_of("javascript", "tests"):
                return True
            node = node.parent
        return False


def _skips(words: list[str], arguments: list[Node], condition: str, line: int) -> Iterator[Skip]:
    skipping = [word for word in words[1:] if word in words_of("javascript", "skipping")]
    skipping += [words[0]] if words[0].startswith("x") else []
    options = next((text_of(each) for each in arguments if each.type == "object"), "")
    skipping += ["skip"] if says("javascript", "skip_options", options) else []
    is_usual = re.search(r"platform|version|arch|os\.", condition) is not None
    yield from (Skip(f"{words[0]}.{word}", line, word in ("skipIf", "runIf") and is_usual) for word in skipping)


def _imports(nodes: list[Node]) -> Iterator[tuple[str, str]]:
    for node in nodes:
        if node.type == "import_statement":
            module = plain(field(node, "source"))
            yield from ((text_of(inner), module) for inner in walk(node, "identifier"))
        elif is_a(value := field(node, "value"), "call_expression") and "require(" in text_of(node)[:400]:
            module, pattern = text_of(field(value, "arguments")).strip("()'\""), field(node, "name")
            yield from ((name, module) for name in (names_in(pattern) if pattern is not None else ()))


def _offered(root: Node) -> Iterator[tuple[str, Node]]:
    """What a file declares at its top, by name."""
    for node in children(root):
        inner = children(node)[-1] if node.type == "export_statement" and children(node) else node
        for part in (inner, *(each for each in children(inner) if each.type == "variable_declarator")):
            if (name := field(part, "name")) is not None:
                yield text_of(name), part if part is inner else field(part, "value") or part


def _makes_tests(word: str) -> bool:
    return word in words_of("javascript", "tests") or word in words_of("javascript", "blocks")


def _call_in(node: Node) -> Node | None:
    inner = first(node) if node.type == "expression_statement" else None
    while is_a(inner, "await_expression", "unary_expression", "parenthesized_expression") and children(inner):
        inner = children(inner)[-1]
    return inner if is_a(inner, "call_expression") else None


def _skipping(around: Around, skip: Skip) -> Around:
    return around._replace(skips=(*around.skips, skip))


def _with_condition(node: Node, around: Around) -> Around:
    """Tests below a condition run only where it holds."""
    if node.type != "if_statement":
        return around
    text = "if (false)" if is_never(node) else f"if {text_of(field(node, 'condition'))}"[:LONGEST_SHOWN]
    return _skipping(around, Skip(text, line_of(node), says("javascript", "machine", text)))
