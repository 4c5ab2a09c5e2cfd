"""Tests in Python, as pytest and unittest find them: functions, classes, marks, parameters."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, cast

from agent_fox.verifier.policy.readers.definitions import Around, Definitions, Mark, Marks
from agent_fox.verifier.policy.readers.patches import patch_of
from agent_fox.verifier.policy.readers.tables import Table, table
from agent_fox.verifier.policy.readers.trees import ast_of, children, field, is_a, line_of, node_of, nodes_in, text_of
from agent_fox.verifier.policy.reading import Bind, Function, Patch, Reading, Skip, Step
from agent_fox.verifier.policy.tables import kinds, words_of

if TYPE_CHECKING:
    from tree_sitter import Node

_Function = ast.FunctionDef | ast.AsyncFunctionDef

LONG_NAME = 6  # characters of a member's name that says which it is
_CASES = ("TestCase", "Test", "Tests", "Case")


class PythonDefinitions(Definitions):
    """The rules of pytest and unittest."""

    language = "python"

    def reading(self) -> Reading:
        module = cast("ast.Module", ast_of(self.root))
        nodes = list(nodes_in(module))
        imports = tuple(_imports(nodes))
        self._uncollected = frozenset(_uncollected(module))
        names = {getattr(node, "id", getattr(node, "attr", "")) for node in nodes}
        setters = ast.Assign if names.isdisjoint(words_of("python", "patchers")) else ast.Call | ast.Assign
        setting = (node_of(node) for node in nodes if isinstance(node, setters))
        self.replaced = tuple(patch for node in setting for patch in patch_of(node, "python"))
        self._has_shared = any(isinstance(node, ast.Nonlocal) for node in nodes)
        body = field(self.root, "body")
        skips = (*self._marks_in(body), *(each for each in self.early_ends(body) if "return" not in each.text))
        around = Around(skips=skips, is_collecting=self.is_test_file and "" not in self._uncollected)
        return Reading(
            functions=tuple(self.functions(body, around)),
            imports=imports,
            patches=tuple(self._replaced_at_top(body, dict(imports))),
            defined=frozenset(_defined(module.body)),
        )

    def functions(self, scope: Node | None, around: Around) -> Iterator[Function]:
        """Of several with one name the last is seen, and none that the module takes away from the runner."""
        last = {text_of(field(each, "name")): ast_of(each) for each in children(scope) if _is_definition(each)}
        for node in _definitions(scope):
            name, body = text_of(field(node, "name")), field(node, "body")
            is_taken_away = not around.names and name in self._uncollected
            is_seen = around.is_collecting and last.get(name, ast_of(node)) is ast_of(node) and not is_taken_away
            marks = tuple(map(Mark.of, children(field(node, "decorator_list"))))
            if is_a(node, "ClassDef"):
                yield from self.functions(body, self._in_class(node, name, marks, around, is_seen))
            else:
                yield self.function(node, name, marks, around, is_test=is_seen and name.startswith("test"))
                yield from self.functions(body, Around((*around.names, name), is_collecting=False))

    def _in_class(self, node: Node, name: str, marks: Marks, around: Around, is_seen: bool) -> Around:
        body = field(node, "body")
        is_case = around.is_case or any(text_of(base).endswith(_CASES) for base in children(field(node, "bases")))
        has_init = any(text_of(field(each, "name")) == "__init__" for each in children(body))
        is_off = any(is_a(each, "Assign") and "__test__" in text_of(each) for each in children(body))
        return Around(
            names=(*around.names, name),
            skips=(*around.skips, *self.skips(marks), *self._marks_in(body)),
            is_collecting=is_seen and not is_off and (is_case or (name.startswith("Test") and not has_init)),
            is_case=is_case,
        )

    def _marks_in(self, body: Node | None) -> Iterator[Skip]:
        """`pytestmark = ...` of a module or class."""
        for node in (each for each in children(body) if is_a(each, "Assign")):
            value = field(node, "right")
            if value is not None and text_of(field(node, "left")).rpartition(".")[2] == "pytestmark":
                listed = children(value) if is_a(value, "List", "Tuple") else [value]
                yield from self.skips(tuple(map(Mark.of, listed)))

    def function(self, node: Node, name: str, marks: Marks, around: Around, *, is_test: bool) -> Function:
        made = ast_of(node)
        is_fixture = any("fixture" in mark.text for mark in marks)
        is_setting_up = name in words_of("python", "setting_up")
        function = super().function(node, name, marks, around, is_test=is_test and not is_fixture)
        return function._replace(
            said=ast.get_docstring(made) or "" if isinstance(made, _Function) else "",
            is_hook=is_fixture or is_setting_up,
            is_for_all=is_setting_up or any("autouse" in mark.text for mark in marks),
        )

    def steps(self, body: Node | None) -> tuple[Step, ...]:
        """What a function does; a name that an inner function sets has no value of its own."""
        inner = (each for child in children(body) for each in nodes_in(ast_of(child))) if self._has_shared else ()
        shared = {name for each in inner if isinstance(each, ast.Nonlocal) for name in each.names}
        return tuple(step for step in super().steps(body) if not (isinstance(step, Bind) and step.name in shared))

    def tables(self, node: Node, marks: Marks) -> Iterator[Table]:
        """Those of `parametrize` with literal rows, for the names of `"a, b"`, or of a list of names."""
        for mark in children(field(node, "decorator_list")):
            given = children(field(mark, "arguments"))
            if len(given) > 1 and text_of(field(mark, "function")).rpartition(".")[2] in ("parametrize", "expand"):
                listed = [text_of(each) for each in children(given[0])] if is_a(given[0], "Tuple", "List") else None
                names = text_of(given[0]).strip("\"'").split(",") if listed is None else listed
                rows = table(given[1], tuple(name.strip().strip("\"'") for name in names))
                yield from [rows] if rows is not None else []

    def _replaced_at_top(self, body: Node | None, imports: Mapping[str, str]) -> Iterator[Patch]:
        """What a module replaces outside of functions: also an import that a later definition hides."""
        for node in children(body):
            name = text_of(field(node, "name") or field(node, "left"))
            if name in imports and (_is_definition(node) or is_a(node, "Assign")):
                text = f"{name} is defined over the import" if _is_definition(node) else text_of(node)
                yield Patch(imports[name], (name,), line_of(node), text)
            call = field(node, "value") if is_a(node, "Expr") else node
            yield from patch_of(call, "python") if call is not None else ()
            if _is_definition(node) and "fixture" in text_of(field(node, "decorator_list")):
                yield from self.patches(node)

    def parameters(self, node: Node) -> tuple[str, ...]:
        made = ast_of(node)
        arguments = [made.args] if isinstance(made, _Function) else []
        given = tuple(arg.arg for of in arguments for arg in (*of.posonlyargs, *of.args, *of.kwonlyargs))
        return given[1:] if given[:1] == ("self",) else given


def _is_definition(node: Node) -> bool:
    return node.type in kinds("definitions") or node.type in kinds("scopes")


def _definitions(scope: Node | None) -> Iterator[Node]:
    """Functions and classes of a body, also under conditions that may hold."""
    for node in children(scope):
        made = ast_of(node)
        if _is_definition(node):
            yield node
        elif isinstance(made, ast.If) and not (isinstance(made.test, ast.Constant) and not made.test.value):
            yield from _definitions(field(node, "consequence"))
            yield from _definitions(field(node, "alternative"))
        elif isinstance(made, ast.Try | ast.With):
            yield from _definitions(field(node, "body"))


def _defined(body: list[ast.stmt]) -> Iterator[str]:
    """Functions, classes, and what a class of the file offers."""
    for node in body:
        if isinstance(node, _Function | ast.ClassDef):
            yield node.name
        if isinstance(node, ast.ClassDef):
            fields = (each.target for each in node.body if isinstance(each, ast.AnnAssign))
            members = (*_defined(node.body), *(each.id for each in fields if isinstance(each, ast.Name)))
            yield from (name for name in members if len(name) >= LONG_NAME)


def _imports(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, str]]:
    for node in (each for each in nodes if isinstance(each, ast.Import | ast.ImportFrom)):
        of = f"{'.' * node.level}{node.module or ''}." if isinstance(node, ast.ImportFrom) else ""
        for name in node.names:
            top = name.name if of or name.asname else name.name.split(".")[0]
            yield name.asname or top, f"{of}{top}"


def _uncollected(module: ast.Module) -> Iterator[str]:
    """Names that a module takes away from the runner; the empty name stands for all of it."""
    for node in module.body:
        match node:
            case ast.Delete(targets=targets):
                yield from (target.id for target in targets if isinstance(target, ast.Name))
            case ast.Assign(targets=[ast.Name(id="__test__")], value=ast.Constant(value=False)):
                yield ""
            case ast.Assign(targets=[ast.Attribute(value=ast.Name(id=name), attr="__test__") | ast.Name(id=name)]):
                yield name
