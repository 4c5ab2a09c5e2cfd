"""Stand-ins that Python tests put in the place of code: patch, monkeypatch, assignment, a definition over an import."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from agent_fox.verifier.policy.readers.python_assertions import last_name
from agent_fox.verifier.policy.reading import Patch

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_SETTERS = frozenset({"setattr", "setitem", "object", "dict"})


def patches_in(node: _Function) -> Iterator[Patch]:
    """What a test replaces by calls and assignments, its decorators included."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.Call) and (patch := _of_call(inner)) is not None:
            yield patch
        elif isinstance(inner, ast.Assign):
            yield from _of_assignment(inner)


def replaced_at_top(module: ast.Module, imports: Mapping[str, str]) -> Iterator[Patch]:
    """What a module replaces outside of functions: also an import that a later definition hides."""
    for node in module.body:
        if isinstance(node, ast.Assign):
            yield from _of_assignment(node)
            for target in node.targets:
                if isinstance(target, ast.Name) and target.id in imports:
                    yield Patch(imports[target.id], (target.id,), node.lineno, ast.unparse(node))
        elif isinstance(node, _Function | ast.ClassDef) and node.name in imports:
            yield Patch(imports[node.name], (node.name,), node.lineno, f"{node.name} is defined over the import")
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and (patch := _of_call(node.value)):
            yield patch
        if isinstance(node, _Function) and any("fixture" in ast.unparse(mark) for mark in node.decorator_list):
            yield from patches_in(node)


def _of_call(node: ast.Call) -> Patch | None:
    """`patch("a.b.c")`, `patch.object(b, "c")`, `monkeypatch.setattr(b, "c", ...)`, `setitem(sys.modules, "a", ...)`"""
    callee = ast.unparse(node.func)
    words = callee.split(".")
    is_patch = "patch" in words or words[0] in ("monkeypatch", "mocker", "mp")
    if not node.args or (not is_patch and callee != "setattr"):
        return None
    first = node.args[0]
    if isinstance(first, ast.Constant) and isinstance(first.value, str):
        module, _, name = first.value.rpartition(".")
        return Patch(module, (name,), node.lineno, ast.unparse(node))
    if words[-1] in _SETTERS and len(node.args) > 1 and isinstance(node.args[1], ast.Constant):
        return _of_member(ast.unparse(first), str(node.args[1].value), node)
    return None


def _of_member(owner: str, name: str, node: ast.Call) -> Patch:
    if owner.endswith("sys.modules"):
        return Patch(name, (), node.lineno, ast.unparse(node))
    return Patch(owner, (name,), node.lineno, ast.unparse(node))


def _of_assignment(node: ast.Assign) -> Iterator[Patch]:
    """`module.name = stub` and `sys.modules["a"] = stub`; an attribute of `self` is the test's own."""
    for target in node.targets:
        match target:
            case ast.Attribute(value=ast.Name(id=owner), attr=name) if owner not in ("self", "cls"):
                if not isinstance(node.value, ast.Constant) or name[:1].islower():
                    yield Patch(owner, (name,), node.lineno, ast.unparse(node))
            case ast.Subscript(value=owner_node, slice=ast.Constant(value=str(module))):
                if last_name(owner_node) == "modules":
                    yield Patch(module, (), node.lineno, ast.unparse(node))
            case _:
                continue
