"""The contract of a function as Python text: what is wrong with it, and the module that a prover reads. Runs nothing.

The contract stands in a file of its own, never in the code: who writes the code cannot weaken it.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex

if TYPE_CHECKING:
    from agent_fox.core.formal.specification import FunctionContract

HARNESS = "agent_fox_contract"
_FUNCTION = regex(r"([A-Za-z_][\w.]*):([A-Za-z_]\w*)")


class ContractUnreadable(ValueError):
    """A contract that no file can be made of. The text says what is wrong with it."""


def trouble(check: FunctionContract) -> str:
    """What is wrong with a contract before anything runs; empty where it can be checked."""
    try:
        compile(harness(check), HARNESS, "exec")
    except ContractUnreadable as error:
        return str(error)
    except (SyntaxError, ValueError) as error:
        return f"it is no Python: {error}"
    return ""


def harness(check: FunctionContract) -> str:
    """The module whose function `contract` has the contract and calls the real one. Raises ContractUnreadable."""
    named = _FUNCTION.fullmatch(check.function)
    if named is None:
        raise ContractUnreadable(f"function = {check.function!r}: write package.module:name")
    if not check.post:
        raise ContractUnreadable("post is empty: say what holds when the function returns")
    module, name = named.groups()
    lines = [*(f"pre: {text}" for text in check.pre), *(f"post: {text}" for text in check.post)]
    lines += [f"raises: {', '.join(check.raises)}"] if check.raises else []
    for condition in (*check.pre, *check.post, *check.raises):
        expression(condition)
    conditions = "\n".join(f"    {line}" for line in lines)
    call = f"_subject({', '.join(arguments(check.signature))})"
    return (
        f"from typing import *\nimport {module}\nfrom {module} import {name} as _subject\n\n\n"
        f'def contract{check.signature}:\n    r"""\n{conditions}\n    """\n    return {call}\n'
    )


def expression(text: str) -> None:
    if '"""' in text or "\n" in text:
        raise ContractUnreadable(f"{text!r}: a condition is one line, without triple quotes")
    try:
        ast.parse(text, mode="eval")
    except (SyntaxError, ValueError) as error:
        raise ContractUnreadable(f"{text!r} is no expression: {error}") from error


def arguments(signature: str) -> list[str]:
    """How the arguments of a signature are handed on."""
    try:
        body = ast.parse(f"def contract{signature}: ...").body
    except (SyntaxError, ValueError) as error:
        raise ContractUnreadable(f"signature = {signature!r}: write (n: int) -> int ({error})") from error
    function = body[0]
    if len(body) != 1 or not isinstance(function, ast.FunctionDef) or "\n" in signature:
        raise ContractUnreadable(f"signature = {signature!r}: write (n: int) -> int")
    given = function.args
    if given.vararg or given.kwarg or given.defaults or any(given.kw_defaults):
        raise ContractUnreadable(f"signature = {signature!r}: without *, ** and defaults, every argument is symbolic")
    bare = [
        argument.arg for argument in (*given.posonlyargs, *given.args, *given.kwonlyargs) if argument.annotation is None
    ]
    if bare or function.returns is None:
        raise ContractUnreadable(
            f"signature = {signature!r}: a type is missing for {bare[0] if bare else 'the result'}"
        )
    by_place = [argument.arg for argument in (*given.posonlyargs, *given.args)]
    return [*by_place, *(f"{argument.arg}={argument.arg}" for argument in given.kwonlyargs)]
