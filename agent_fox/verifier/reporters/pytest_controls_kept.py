"""Which functions of the language were replaced. It is run by the project's interpreter before any of its files is."""

from __future__ import annotations

import ast
import builtins
import json
import math
import operator
import os
import pathlib
import re
import sys
import time

SET_BY_TOOLS = ("print", "open", "input", "breakpoint", "compile", "exec", "eval")


def functions(*homes: object) -> list[tuple[object, str, object]]:
    members = ((home, name, value) for home in homes for name, value in vars(home).items())
    return [each for each in members if callable(each[2]) and each[1][0] != "_"]


KEPT = [each for each in functions(builtins, math, operator, re, json) if each[1] not in SET_BY_TOOLS]
"""Those by which tests work out what they expect, as they were before anything was imported."""

LOADED = (sys.modules[name] for name in ("shutil", "subprocess", "pytest") if name in sys.modules)
ASKED = functions(os, os.path, time, pathlib.Path, pathlib.PurePath, *LOADED)
"""Those by which tests look at the world. They may put others in their place, and leave them; the product may not."""

ROOT = pathlib.Path.cwd()
OF_TESTS = {"test", "tests", "testing", "site-packages", "conftest.py"}


def is_of_product(value: object) -> bool:
    """Whether a function stands in a file of the project that is none of tests; of another callable it is not known."""
    return is_below_product(pathlib.PurePath(getattr(getattr(value, "__code__", None), "co_filename", "")))


def is_below_product(file: pathlib.PurePath) -> bool:
    is_test = file.stem.startswith("test_") or file.stem.endswith(("_test", "_tests"))
    return ROOT in file.parents and not is_test and OF_TESTS.isdisjoint(file.relative_to(ROOT).parts)


def put_among_tests() -> str:
    """A name of the language that the product gave something to in a module of tests, which does not do so itself."""
    for module in tuple(sys.modules.values()):
        file = pathlib.PurePath(getattr(module, "__file__", None) or "")
        if ROOT not in file.parents or is_below_product(file):
            continue
        members = tuple(vars(module).items())
        names = {name for name, value in members if hasattr(builtins, name) and is_of_product(value)}
        if names and (put := names - given_names(pathlib.Path(file))):
            return f"{min(put)} in {file.name} was replaced"
    return ""


def given_names(file: pathlib.Path) -> frozenset[str]:
    """The names that the text of a file imports or assigns; all of the language's where that cannot be told."""
    try:
        nodes = [*ast.walk(ast.parse(file.read_text("utf-8")))]
    except (OSError, SyntaxError, ValueError, RecursionError):
        return frozenset(vars(builtins))
    stored = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    brought = {node.asname or node.name for node in nodes if isinstance(node, ast.alias)}
    return frozenset(vars(builtins)) if "*" in brought else frozenset(stored | brought)


def replaced() -> str:
    """The name of one that was replaced; empty where none was."""
    if put := put_among_tests():
        return put
    now = [(home, name, value, getattr(home, name, None)) for home, name, value in (*KEPT, *ASKED)]
    odd = (each for each in now if each[2] is not each[3])
    other = (each for each in odd if each[:3] in KEPT or is_of_product(each[3]))
    return next((f"{getattr(home, '__name__', home)}.{name} was replaced" for home, name, _, _ in other), "")
