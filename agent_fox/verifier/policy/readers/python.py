"""Tests in Python, as pytest and unittest find them: functions, classes, marks, parameters."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from typing import cast

from agent_fox.verifier.policy.readers.calls import table
from agent_fox.verifier.policy.readers.definitions import Around, Definitions, Mark, Marks
from agent_fox.verifier.policy.readers.trees import Node, PythonNode, ast_of, children, field, is_a, nodes_in, text_of
from agent_fox.verifier.policy.reading import Function, Patch, Reading, Rows, Skip
from agent_fox.verifier.policy.tables import kinds, words_of

_Function = ast.FunctionDef | ast.AsyncFunctionDef

_QUOTES = "'\""
LONG_NAME = 6  # characters of a member's name that says which it is


class PythonDefinitions(Definitions):
    language = "python"

    def reading(self) -> Reading:
        module = cast("ast.Module", ast_of(self.root))
        nodes = list(nodes_in(module))
        imports = tuple(_imports(nodes))
        self._uncollected = frozenset((name,) for name in _uncollected(module))
        names = {getattr(node, "id", getattr(node, "attr", "")) for node in nodes}
        setters = ast.Assign if names.isdisjoint(words_of("python", "patchers")) else ast.Call | ast.Assign
        setting = (PythonNode(node) for node in nodes if isinstance(node, setters))
        self.replaced = tuple(patch for node in setting for patch in self.patches_by(cast("Node", node)))
        body = field(self.root, "body")
        skips = (*self._marks_in(body), *(each for each in self.early_ends(body) if "return" not in each.text))
        around = Around(skips=skips, is_collecting=self.is_test_file and ("",) not in self._uncollected)
        return Reading(
            functions=tuple(self.functions(body, around)),
            imports=imports,
            patches=tuple(self._replaced_at_top(body, dict(imports))),
            defined=frozenset(_defined(module.body)),
        )

    def stand_ins(self, node: Node) -> Iterator[tuple[str, tuple[str, ...]]]:
        """`patch("a.b.c")`, `patch.object(b, "c")`, `monkeypatch.setattr(b, "c", ...)`, `setitem(sys.modules, "a", …)`,
        `module.name = stub`, and `sys.modules["a"] = stub`; an attribute of `self` is the test's own.
        """
        if is_a(node, "Call"):
            words = text_of(field(node, "function")).split(".")
            is_patch = "patch" in words or words[0] in words_of("python", "patchers") - {"setattr"}
            given = children(field(node, "arguments")) if is_patch or words == ["setattr"] else []
            owner, name = (*map(text_of, given[:2]), "", "")[:2]
            if owner[:1] in ("'", '"'):
                module, _, name = owner.strip(_QUOTES).rpartition(".")
                yield module, (name,)
            elif words[-1] in words_of("python", "setters") and len(given) > 1 and is_a(given[1], "Constant"):
                name = name.strip(_QUOTES)
                yield (name, ()) if owner.endswith("sys.modules") else (owner, (name,))
        for target in children(field(node, "targets")) if is_a(node, "Assign") else ():
            of, name = field(target, "value"), text_of(field(target, "attr"))
            if is_a(target, "Attribute") and is_a(of, "Name") and text_of(of) not in ("self", "cls"):
                if not is_a(field(node, "value"), "Constant") or name[:1].islower():
                    yield text_of(of), (name,)
            elif is_a(target, "Subscript") and text_of(of).rpartition(".")[2] == "modules":
                yield text_of(field(target, "slice")).strip(_QUOTES), ()

    @staticmethod
    def items(scope: Node | None) -> list[Node]:
        """Functions and classes of a body, also under conditions that may hold; of several with one name the last."""
        last = {text_of(field(each, "name")): each for each in children(scope) if _is_definition(each)}
        named = ((each, text_of(field(each, "name"))) for each in _definitions(scope))
        return [each for each, name in named if last.get(name, each) is each]

    def is_test(self, node: Node, marks: Marks, name: str) -> bool:
        return name.startswith("test") and not any("fixture" in mark.text for mark in marks)

    def inside(self, node: Node, marks: Marks, around: Around) -> Around:
        body, name = field(node, "body"), around.names[-1]
        bases, cases = map(text_of, children(field(node, "bases"))), tuple(words_of("python", "cases"))
        is_case = around.is_case or any(base.endswith(cases) for base in bases)
        has_init = any(text_of(field(each, "name")) == "__init__" for each in children(body))
        is_off = any(is_a(each, "Assign") and "__test__" in text_of(each) for each in children(body))
        is_found = (is_case or (name.startswith("Test") and not has_init)) and around.names not in self._uncollected
        return around._replace(
            skips=(*around.skips, *self._marks_in(body)),
            is_collecting=around.is_collecting and not is_off and is_found,
            is_case=is_case,
        )

    def _marks_in(self, body: Node | None) -> Iterator[Skip]:
        """`pytestmark = ...` of a module or class."""
        for node in (each for each in children(body) if is_a(each, "Assign")):
            value = field(node, "right")
            if value is not None and text_of(field(node, "left")).rpartition(".")[2] == "pytestmark":
                listed = children(value) if is_a(value, "List", "Tuple") else [value]
                yield from self.skips(tuple(map(Mark.of, listed)))

    def function(self, node: Node, marks: Marks, around: Around) -> Function:
        is_setting_up = around.names[-1] in words_of("python", "setting_up")
        is_seen = around.is_collecting and around.names not in self._uncollected
        function = super().function(node, marks, around._replace(is_collecting=is_seen))
        return function._replace(
            said=ast.get_docstring(cast("ast.FunctionDef", ast_of(node))) or "",
            is_hook=is_setting_up or any("fixture" in mark.text for mark in marks),
            is_for_all=is_setting_up or any("autouse" in mark.text for mark in marks),
        )

    def tables(self, marks: Marks) -> Iterator[Rows]:
        """Those of `parametrize` with literal rows, for the names of `"a, b"`, or of a list of names."""
        for mark in marks:
            given = children(field(mark.node, "arguments"))
            if len(given) > 1 and mark.name in ("parametrize", "expand"):
                listed = [text_of(each) for each in children(given[0])] if is_a(given[0], "Tuple", "List") else None
                names = text_of(given[0]).strip(_QUOTES).split(",") if listed is None else listed
                rows = table(given[1], tuple(name.strip().strip(_QUOTES) for name in names))
                yield from [rows] if rows is not None else []

    def _replaced_at_top(self, body: Node | None, imports: Mapping[str, str]) -> Iterator[Patch]:
        """What a module replaces outside of functions: also an import that a later definition hides."""
        for node in children(body):
            name = text_of(field(node, "name") or field(node, "left"))
            if name in imports and (_is_definition(node) or is_a(node, "Assign")):
                text = f"{name} is defined over the import" if _is_definition(node) else text_of(node)
                yield Patch(imports[name], (name,), node.start_point[0] + 1, text)
            call = field(node, "value") if is_a(node, "Expr") else node
            yield from self.patches_by(call) if call is not None else ()
            if _is_definition(node) and "fixture" in text_of(field(node, "decorator_list")):
                yield from self.patches(node)

    def parameters(self, node: Node) -> tuple[str, ...]:
        of = cast("ast.FunctionDef", ast_of(node)).args
        given = tuple(each.arg for each in (*of.posonlyargs, *of.args, *of.kwonlyargs))
        return given[1:] if given[:1] == ("self",) else given


def _is_definition(node: Node) -> bool:
    return node.type in kinds("definitions") or node.type in kinds("scopes")


def _definitions(scope: Node | None) -> Iterator[Node]:
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
