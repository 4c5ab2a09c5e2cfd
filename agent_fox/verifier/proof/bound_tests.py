"""What of a file of tests decides about some of them: all of it but the bodies of the others. Reads; runs nothing.

An agreement to a changed expectation is bound to this, so that another test of the file can change without a person
being asked again. What could change what the agreed test asks stays bound.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

Function = (ast.FunctionDef, ast.AsyncFunctionDef)
_REACHING = frozenset({"globals", "setattr", "delattr", "vars", "exec", "eval", "sys", "importlib", "gc", "inspect"})


def deciding(path: str, content: bytes, own: Collection[str]) -> bytes:
    """The content without the bodies of tests that are not `own` (names of functions); as it is where it is no Python,
    or cannot be parsed.
    """
    if not path.endswith(".py"):
        return content
    try:
        module = ast.parse(content)
    except (SyntaxError, ValueError, RecursionError):
        return content
    lines = content.splitlines(keepends=True)
    for first, last in _others(module, own):
        lines[first - 1 : last] = [b""] * (last - first + 1)
    return b"".join(lines)


def _others(module: ast.Module, own: Collection[str]) -> Iterator[tuple[int, int]]:
    """The lines of each body that decides nothing about the others: what stands around it (decorators, defaults) runs
    when the file is imported, and stays.
    """
    variables = _variables(module)
    inside = [part for node in module.body if isinstance(node, ast.ClassDef) for part in node.body]
    for node in (*module.body, *inside):
        if not isinstance(node, Function) or not node.name.startswith("test") or node.name in own:
            continue
        first = node.body[0].lineno
        if first > _header_end(node) and not _reaches_out(node, variables):
            yield first, node.body[-1].end_lineno or first


def _header_end(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """The last line that the signature stands on; a body beside it is kept."""
    parts = [part for part in ast.walk(node.args) if isinstance(part, ast.expr | ast.arg)]
    ends = [part.end_lineno or part.lineno for part in (*parts, *filter(None, [node.returns]))]
    return max([node.lineno, *ends])


def _reaches_out(node: ast.FunctionDef | ast.AsyncFunctionDef, variables: Collection[str]) -> bool:
    """Whether a test's body may change what other tests of the file see: data of the module, or an attribute of
    something. What it does to the product by calling it, tests of other files can do as well.
    """
    for part in (inner for statement in node.body for inner in ast.walk(statement)):
        match part:
            case ast.Global() | ast.Nonlocal():
                return True
            case ast.Name(id=name) if name in _REACHING or name in variables:
                return True
            case ast.Attribute(attr=name) if name.startswith("__"):
                return True
            case ast.Attribute(ctx=ast.Store() | ast.Del()) | ast.Subscript(ctx=ast.Store() | ast.Del()):
                return True
    return False


def _variables(module: ast.Module) -> frozenset[str]:
    """Names that hold data of the module, which a test may change."""
    outside = (node for node in module.body if not isinstance(node, (*Function, ast.ClassDef)))
    stored = (part for node in outside for part in ast.walk(node) if isinstance(part, ast.Name))
    return frozenset(part.id for part in stored if isinstance(part.ctx, ast.Store))
