from __future__ import annotations

import pytest

from tests.verifier.logs.samples import parser_of, place, read, read_text


@pytest.mark.parametrize(
    ("name", "kind", "where", "message"),
    [
        ("syn-js", "compile_error", "syn.js:1:11", "SyntaxError: Unexpected token ';'"),
        ("mod-cjs", "compile_error", "mod.cjs:1:1", "Error: Cannot find module './nope'"),
        ("mod-mjs", "compile_error", "mod.mjs", "Error [ERR_MODULE_NOT_FOUND]: Cannot find module"),
        ("exp-mjs", "compile_error", "exp.mjs:1:10", "SyntaxError: The requested module './ok.mjs'"),
        ("rej-js", "unknown", "rej.js:1:16", "Error: unhandled"),
        ("str-js", "unknown", "str.js:1:1", "str"),
    ],
)
def test_an_uncaught_error_is_placed_in_the_project(name: str, kind: str, where: str, message: str) -> None:
    (failure,) = read(parser_of("node"), f"node/{name}", "/workspace/nodex").failures
    assert (failure.kind.value, place(failure)) == (kind, where)
    assert failure.message.startswith(message)


def test_a_path_with_a_line_is_not_yet_an_error() -> None:
    assert read_text(parser_of("node"), "/workspace/a.js:12\nall is well\n").failures == ()
