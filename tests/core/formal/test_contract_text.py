"""A contract as a file that a prover reads: nothing in it can be anything else than a condition."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agent_fox.core.formal.contract_text import ContractUnreadable, harness, trouble
from agent_fox.core.formal.specification import FunctionContract

SOUND = FunctionContract("shop.cart:total", "(n: int, /, m: int, *, k: int) -> int", ("__return__ >= n",), ("n > 0",))


def test_the_file_calls_the_real_function_under_the_promised_signature() -> None:
    assert harness(replace(SOUND, raises=("KeyError", "shop.cart.Empty"))) == (
        "from typing import *\nimport shop.cart\nfrom shop.cart import total as _subject\n\n\n"
        "def contract(n: int, /, m: int, *, k: int) -> int:\n"
        '    r"""\n    pre: n > 0\n    post: __return__ >= n\n    raises: KeyError, shop.cart.Empty\n    """\n'
        "    return _subject(n, m, k=k)\n"
    )
    assert trouble(SOUND) == ""


def test_a_function_that_raises_nothing_has_no_line_about_it() -> None:
    assert '    r"""\n    pre: n > 0\n    post: __return__ >= n\n    """\n' in harness(SOUND)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"function": "shop.cart.total"}, "package.module:name"),
        ({"function": "shop:cart; import os"}, "package.module:name"),
        ({"post": ()}, "post is empty"),
        ({"post": ("x ==",)}, "no expression"),
        ({"post": ("x = 1",)}, "no expression"),
        ({"post": ("True\nimport os",)}, "one line"),
        ({"pre": ('True"""',)}, "triple quotes"),
        ({"raises": ("not a name",)}, "no expression"),
        ({"signature": "n: int"}, "write (n: int) -> int"),
        ({"signature": "(n: int) -> int: pass\ndef g()"}, "write (n: int) -> int"),
        ({"signature": "(n: int) -> int: pass\rdef g()"}, "write (n: int) -> int"),
        ({"signature": "(n: int,\n m: int) -> int"}, "write (n: int) -> int"),
        ({"signature": "(n) -> int"}, "a type is missing for n"),
        ({"signature": "(n: int)"}, "a type is missing for the result"),
        ({"signature": "(*n: int) -> int"}, "without *, ** and defaults"),
        ({"signature": "(n: int = 3) -> int"}, "without *, ** and defaults"),
        ({"signature": "(*, n: int = 3) -> int"}, "without *, ** and defaults"),
    ],
)
def test_what_is_no_contract_is_told(changes: dict[str, object], said: str) -> None:
    wrong = replace(SOUND, **changes)  # type: ignore[arg-type]
    assert said in trouble(wrong)
    with pytest.raises(ContractUnreadable):
        harness(wrong)


def test_a_contract_without_a_promise_is_told_what_to_say() -> None:
    assert trouble(replace(SOUND, post=())) == "post is empty: say what holds when the function returns"
