"""Tables that Python tests go through by name: `for x in CASES`, `parametrize(..., CASES.items())`, made literal."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Mapping

from agent_fox.verifier.policy.python_assertions import last_name

_Tables = Mapping[str, ast.expr]
_Literal = (ast.List, ast.Tuple, ast.Set, ast.Dict)
_Function = (ast.FunctionDef, ast.AsyncFunctionDef)


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


def _put_in(function: ast.FunctionDef | ast.AsyncFunctionDef, tables: _Tables) -> None:
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
