"""Reads Python with `ast`: tests, skips, stand-ins. Nothing is imported or run."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from agent_fox.core.values import dataclass
from agent_fox.verifier.policy.expressions import joined, tokens_of
from agent_fox.verifier.policy.readers.python_assertions import last_name, written
from agent_fox.verifier.policy.readers.python_patches import patches_in, replaced_at_top
from agent_fox.verifier.policy.readers.python_steps import is_about_machine, rows_of, skips_in, steps_of
from agent_fox.verifier.policy.readers.words import words_of
from agent_fox.verifier.policy.reading import Broken, Function, Reading, Rows, Skip, Step, Unreadable

if TYPE_CHECKING:
    from agent_fox.verifier.policy.values import Language

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_Scope = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef

LONG_NAME = 6  # characters of a member's name that says which it is


@dataclass(frozen=True, slots=True)
class _Around:
    """What holds for everything in a scope."""

    names: tuple[str, ...] = ()
    skips: tuple[Skip, ...] = ()
    is_collecting: bool = True
    is_test_case: bool = False


def read(text: str, is_test_file: bool, language: Language) -> Reading:
    """Raises Unreadable for what `ast` does not take, and for what is nested beyond measure."""
    try:
        module = ast.parse(text)
        put_tables(module)
        return _read(module, is_test_file)
    except (SyntaxError, ValueError) as error:
        raise Broken(f"no Python: {type(error).__name__}", getattr(error, "lineno", None)) from error
    except (RecursionError, MemoryError) as error:
        raise Unreadable("nested too deeply") from error


def _read(module: ast.Module, is_test_file: bool) -> Reading:
    imports = tuple(_imports(module))
    uncollected = frozenset(_uncollected(module))
    around = _Around(skips=tuple(_module_skips(module)), is_collecting=is_test_file and "" not in uncollected)
    functions = tuple(_functions(module, around, uncollected))
    return Reading(
        functions=functions,
        imports=imports,
        patches=tuple(replaced_at_top(module, dict(imports))),
        defined=frozenset(_defined(module.body)),
    )


def _defined(body: list[ast.stmt]) -> Iterator[str]:
    """Functions, classes, and what a class of the file offers."""
    for node in body:
        if isinstance(node, _Function | ast.ClassDef):
            yield node.name
        if isinstance(node, ast.ClassDef):
            fields = (each.target for each in node.body if isinstance(each, ast.AnnAssign))
            members = (*_defined(node.body), *(each.id for each in fields if isinstance(each, ast.Name)))
            yield from (name for name in members if len(name) >= LONG_NAME)


def _imports(module: ast.Module) -> Iterator[tuple[str, str]]:
    for node in ast.walk(module):
        if isinstance(node, ast.Import):
            for name in node.names:
                yield name.asname or name.name.split(".")[0], name.name if name.asname else name.name.split(".")[0]
        elif isinstance(node, ast.ImportFrom):
            for name in node.names:
                yield name.asname or name.name, f"{'.' * node.level}{node.module or ''}.{name.name}"


def _uncollected(module: ast.Module) -> Iterator[str]:
    """Names that a module takes away from the runner; the empty name stands for all of it."""
    for node in module.body:
        match node:
            case ast.Delete(targets=targets):
                yield from map(last_name, targets)
            case ast.Assign(targets=[ast.Name(id="__test__")], value=ast.Constant(value=False)):
                yield ""
            case ast.Assign(targets=[ast.Attribute(value=ast.Name(id=name), attr="__test__")]):
                yield name
            case ast.Assign(targets=[ast.Name(id=name)]):
                yield name
            case _:
                continue


def _module_skips(module: ast.Module) -> Iterator[Skip]:
    yield from _marks(module.body)
    for skip in skips_in(module.body):
        if "return" not in skip.text:
            yield skip


def _marks(body: list[ast.stmt]) -> Iterator[Skip]:
    """`pytestmark = ...` of a module or class."""
    for node in body:
        if isinstance(node, ast.Assign) and any(last_name(target) == "pytestmark" for target in node.targets):
            listed = node.value.elts if isinstance(node.value, ast.List | ast.Tuple) else [node.value]
            yield from _skips_of(listed)


def _skips_of(decorators: Iterable[ast.expr]) -> Iterator[Skip]:
    for decorator in decorators:
        callee = decorator.func if isinstance(decorator, ast.Call) else decorator
        text = ast.unparse(decorator)
        if last_name(callee) == "flaky" or (last_name(callee) == "usefixtures" and "skip" in text):
            yield Skip(text, decorator.lineno, last_name(callee) == "flaky")
        if last_name(callee) in words_of("python", "skipping"):
            yield Skip(
                text,
                decorator.lineno,
                last_name(callee) in ("skipif", "skipIf", "skipUnless") and is_about_machine(text),
            )


def _functions(scope: _Scope, around: _Around, uncollected: frozenset[str]) -> Iterator[Function]:
    last = {node.name: node for node in scope.body if isinstance(node, _Function | ast.ClassDef)}
    for node in _definitions(scope.body):
        is_seen = last.get(node.name, node) is node and not (isinstance(scope, ast.Module) and node.name in uncollected)
        if isinstance(node, ast.ClassDef):
            yield from _functions(node, _in_class(node, around, is_seen), uncollected)
        else:
            is_test = around.is_collecting and is_seen and node.name.startswith("test")
            yield _function(node, around, is_test)
            inside = _Around((*around.names, node.name), is_collecting=False)
            yield from _functions(node, inside, uncollected)


def _definitions(body: list[ast.stmt]) -> Iterator[_Function | ast.ClassDef]:
    """Functions and classes of a body, also under conditions that may hold."""
    for node in body:
        if isinstance(node, _Function | ast.ClassDef):
            yield node
        elif isinstance(node, ast.If) and not (isinstance(node.test, ast.Constant) and not node.test.value):
            yield from _definitions([*node.body, *node.orelse])
        elif isinstance(node, ast.Try | ast.With):
            yield from _definitions(node.body)


def _in_class(node: ast.ClassDef, around: _Around, is_seen: bool) -> _Around:
    bases = [last_name(base) for base in node.bases]
    is_case = around.is_test_case or any(base.endswith(("TestCase", "Test", "Tests", "Case")) for base in bases)
    has_init = any(isinstance(each, _Function) and each.name == "__init__" for each in node.body)
    is_off = any("__test__" in ast.unparse(each) for each in node.body if isinstance(each, ast.Assign))
    is_named = node.name.startswith("Test") and not has_init
    return _Around(
        names=(*around.names, node.name),
        skips=(*around.skips, *_skips_of(node.decorator_list), *_marks(node.body)),
        is_collecting=around.is_collecting and is_seen and not is_off and (is_case or is_named),
        is_test_case=is_case,
    )


def _function(node: _Function, around: _Around, is_test: bool) -> Function:
    body = node.body[1:] if ast.get_docstring(node, clean=False) is not None else node.body
    given = tuple(arg.arg for arg in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs))
    marks = [ast.unparse(mark) for mark in node.decorator_list]
    is_fixture = any("fixture" in mark for mark in marks)
    return Function(
        name="::".join((*around.names, node.name)),
        line=node.lineno,
        is_test=is_test and not is_fixture,
        parameters=given[1:] if given[:1] == ("self",) else given,
        steps=_with_rows(node, steps_of(body)),
        skips=(*around.skips, *_skips_of(node.decorator_list), *skips_in(body)),
        patches=tuple(patches_in(node)),
        shape=joined(tokens_of("\n".join(map(ast.unparse, body)))),
        said=ast.get_docstring(node) or "",
        is_hook=is_fixture or node.name in words_of("python", "setting_up"),
        is_for_all=node.name in words_of("python", "setting_up") or any("autouse" in mark for mark in marks),
    )


def _with_rows(node: _Function, steps: tuple[Step, ...]) -> tuple[Step, ...]:
    """The steps under each `parametrize` with literal rows."""
    for mark in node.decorator_list:
        if isinstance(mark, ast.Call) and last_name(mark.func) in ("parametrize", "expand") and len(mark.args) > 1:
            names = _parameter_names(mark.args[0])
            rows = rows_of(mark.args[1], names)
            steps = steps if rows is None else (Rows(names, rows, steps),)
    return steps


def _parameter_names(node: ast.expr) -> tuple[str, ...]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return tuple(name.strip() for name in node.value.split(","))
    listed = node.elts if isinstance(node, ast.Tuple | ast.List) else []
    return tuple("".join(written(each)).strip("\"'") for each in listed)


_Tables = Mapping[str, ast.expr]
_Literal = (ast.List, ast.Tuple, ast.Set, ast.Dict)


def put_tables(module: ast.Module) -> None:
    """Put literal tables where loops and parameters name them: those of the module, and of the function around."""
    tables = _tables_of(module.body)
    for node in ast.walk(module):
        if isinstance(node, _Function):
            _put_in(node, {**tables, **_tables_of(node.body)})


def _tables_of(body: Iterable[ast.stmt]) -> dict[str, ast.expr]:
    """Names that are bound once, to a literal list or dictionary."""
    times_bound: Counter[str] = Counter()
    tables: dict[str, ast.expr] = {}
    for node in body:
        target = node.targets[0] if isinstance(node, ast.Assign) and len(node.targets) == 1 else None
        target = node.target if isinstance(node, ast.AnnAssign | ast.AugAssign) else target
        if isinstance(target, ast.Name):
            times_bound[target.id] += 1
            value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
            if isinstance(value, _Literal):
                tables[target.id] = value
    return {name: value for name, value in tables.items() if times_bound[name] == 1}


def _put_in(function: _Function, tables: _Tables) -> None:
    for mark in function.decorator_list:
        if isinstance(mark, ast.Call) and last_name(mark.func) in ("parametrize", "expand") and len(mark.args) > 1:
            mark.args[1] = _resolved(mark.args[1], tables)
    for node in ast.walk(function):
        if isinstance(node, ast.For):
            node.iter = _resolved(node.iter, tables)


def _resolved(node: ast.expr, tables: _Tables) -> ast.expr:
    match node:
        case ast.Name(id=name) if name in tables:
            return _rows(tables[name], "keys")
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=("items" | "values" | "keys") as what), args=[]):
            return _rows(tables[name], what) if name in tables else node
        case ast.Call(func=ast.Attribute(value=ast.Dict() as table, attr=("items" | "values" | "keys") as what)):
            return _rows(table, what)
        case ast.Call(func=ast.Name(id="sorted" | "list" | "tuple"), args=[inner]):
            resolved = _resolved(inner, tables)
            return resolved if isinstance(resolved, _Literal) else node
    return node


def _rows(table: ast.expr, what: str) -> ast.expr:
    if not isinstance(table, ast.Dict):
        return table
    if None in table.keys:
        return ast.Name("table")
    keys = [key for key in table.keys if key is not None]
    pairs: list[ast.expr] = [ast.Tuple([key, value]) for key, value in zip(keys, table.values, strict=True)]
    return ast.List({"items": pairs, "values": table.values, "keys": keys}[what])
