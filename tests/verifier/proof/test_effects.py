"""What the end of a test says of what was broken meanwhile."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from agent_fox.core.verdicts.proof import Before, Effect
from agent_fox.verifier.ground.cases import Case, Outcome
from agent_fox.verifier.proof.effects import before_of, effect_of, of_several
from agent_fox.verifier.proof.lab import End, end_by_text, ended_within

TEST, PRODUCT = "tests/test_it.py", "shop/cart.py"


def failed(kind: str, *frames: str, message: str = "") -> End:
    return End(Outcome.FAILED, kind, message, frames)


@pytest.mark.parametrize(
    ("end", "effect"),
    [
        (None, Effect.VOID),
        (End(Outcome.SKIPPED), Effect.VOID),
        (End(Outcome.EXPECTED_FAILURE), Effect.VOID),
        (End(Outcome.PASSED), Effect.UNNOTICED),
        (failed("AssertionError", TEST), Effect.KILLED),
        (failed("ERR_ASSERTION", TEST), Effect.KILLED),
        (failed("AssertionError", TEST, PRODUCT), Effect.CRASHED),
        (failed("KeyError", TEST), Effect.KILLED),
        (failed("KeyError", TEST, PRODUCT), Effect.CRASHED),
        (failed("Unsatisfiable", TEST), Effect.VOID),
        (failed("hypothesis.errors.FailedHealthCheck", TEST), Effect.VOID),
    ],
)
def test_a_test_notices_by_its_own_assertion_or_by_an_error_outside_of_the_product(
    end: End | None, effect: Effect
) -> None:
    assert effect_of(end) is effect


@pytest.mark.parametrize(
    "end",
    [
        failed("AttributeError", TEST),
        failed("NameError", TEST),
        failed("TypeError", TEST, message="Cannot read properties of undefined (reading 'pen')"),
    ],
)
def test_that_a_definition_is_missing_shows_nothing_where_it_was_taken_away(end: End) -> None:
    assert (effect_of(end), effect_of(end, is_definition=True)) == (Effect.KILLED, Effect.CRASHED)
    assert effect_of(failed("AssertionError", TEST), is_definition=True) is Effect.KILLED
    assert effect_of(failed("AssertionError"), is_definition=True) is Effect.KILLED


def test_one_of_several_tests_that_notices_is_enough() -> None:
    assert of_several([Effect.UNNOTICED, Effect.KILLED, Effect.VOID]) is Effect.KILLED
    assert of_several([Effect.UNNOTICED, Effect.CRASHED]) is Effect.CRASHED
    assert of_several([]) is Effect.VOID


@pytest.mark.parametrize(
    ("stack", "effect"),
    [
        ("Error: busy\n ❯ Module.total src/total.ts:2:9\n ❯ test/total.test.ts:5:10\n", Effect.CRASHED),
        ("AssertionError: expected 4 to be 3\n ❯ test/total.test.ts:5:10\n", Effect.KILLED),
    ],
)
def test_frames_of_vitest_are_told_below_the_project(stack: str, effect: Effect) -> None:
    case = Case((), "it", "test/total.test.ts", Outcome.FAILED, stack.partition("\n")[0], stack)
    assert effect_of(end_by_text(case, Path("/srv/shop"), "vitest")) is effect


@pytest.mark.parametrize(
    ("ends", "word"),
    [
        ([End(Outcome.PASSED), failed("AssertionError", TEST)], Before.RED),
        ([End(Outcome.PASSED), End(Outcome.PASSED)], Before.GREEN),
        ([End(Outcome.FAILED, "fixture 'shop' not found", is_unbegun=True)], Before.UNKNOWN),
        ([End(Outcome.PASSED), End(Outcome.SKIPPED)], Before.UNKNOWN),
        ([], Before.UNKNOWN),
    ],
)
def test_before_the_work_a_test_is_red_by_its_own_body(ends: list[End], word: Before) -> None:
    assert before_of(ends) is word


@pytest.mark.parametrize(
    ("inside", "effect"),
    [
        ([("seed#0", failed("", PRODUCT))], Effect.CRASHED),
        ([("seed#0", failed(""))], Effect.KILLED),
        ([("seed#0", failed("", PRODUCT)), ("seed#1", failed(""))], Effect.KILLED),
        ([("seed#0", End(Outcome.PASSED))], Effect.KILLED),
    ],
)
def test_a_test_around_others_notices_what_those_notice(inside: list[tuple[str, End]], effect: Effect) -> None:
    around = Case((), "FuzzIt", TEST, Outcome.FAILED)
    cases = [around, *(Case(("FuzzIt",), name, TEST, end.outcome) for name, end in inside)]
    ends = dict(zip((case.id for case in cases), (failed(""), *(end for _, end in inside)), strict=True))
    assert effect_of(ended_within(cases, ends)[around.id]) is effect
    assert list(ended_within(cases, ends)) == list(ends)


JAVA = """org.opentest4j.AssertionFailedError: Unexpected exception type thrown
\tat org.junit.jupiter.api.AssertThrows.assertThrows(AssertThrows.java:67)
\tat store.BasketTest.total(BasketTest.java:15)
Caused by: java.lang.IllegalStateException
\tat store.Basket.total(Basket.java:9)
"""
FELL_OVER = """java.lang.IndexOutOfBoundsException: Index 0 out of bounds for length 0
\tat java.base/java.util.ArrayList.get(ArrayList.java:427)
\tat store.Basket.first(Basket.java:17)
\tat store.BasketTest.total(BasketTest.java:15)
"""
OTHER_WORDS = """note: panic did not contain expected string
      panic message: "no"
 expected substring: "yes"
"""
RUST = "pub fn first() {}\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn it() {\n        assert!(false);\n    }\n}\n"


@pytest.mark.parametrize(
    ("text", "effect"),
    [
        (JAVA, Effect.KILLED),
        (FELL_OVER, Effect.CRASHED),
        ("thread 'it' panicked at src/lib.rs:1:5:\nindex out of bounds", Effect.CRASHED),
        ("thread 'it' panicked at src/lib.rs:6:9:\nassertion failed: false", Effect.KILLED),
        ("thread 'it' panicked at tests/basket.rs:6:9:\nassertion failed: false", Effect.KILLED),
        ("thread 'it' panicked at 'no', src/lib.rs:1:5", Effect.CRASHED),
        (
            f"thread 'it' panicked at src/lib.rs:1:5:\nno\n{OTHER_WORDS}",
            Effect.KILLED,
        ),
        (f"\n{OTHER_WORDS}thread 'it' panicked at src/lib.rs:1:5:\nindex out of bounds", Effect.CRASHED),
    ],
)
def test_an_error_of_java_or_rust_is_placed_by_what_its_stack_has_of_the_tree(
    tmp_path: Path, text: str, effect: Effect
) -> None:
    for name in ("src/main/java/store/Basket.java", "src/test/java/store/BasketTest.java", "tests/basket.rs"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    (tmp_path / "src" / "lib.rs").write_text(RUST)
    case = Case(("BasketTest",), "total", "tests", Outcome.FAILED, text=text)
    assert effect_of(end_by_text(case, tmp_path, "maven")) is effect


def test_what_fails_in_something_made_for_others_too_is_not_noticed_by_the_test() -> None:
    own = failed("AssertionError", TEST)
    assert effect_of(own) is Effect.KILLED
    assert effect_of(replace(own, is_apart=True)) is Effect.CRASHED


def test_the_hook_of_a_whole_file_of_node_is_made_for_others_too(tmp_path: Path) -> None:
    (tmp_path / "a.test.js").write_text("before(() => {\n  assert(0);\n});\ntest('a', () => {\n  assert(0);\n});\n")
    for line, is_apart in ((2, True), (5, False)):
        text = f"AssertionError: 0\n    at it ({tmp_path}/a.test.js:{line}:3)\n    at run (node:internal/a:1:1)\n"
        end = end_by_text(Case((), "a", "a.test.js", Outcome.FAILED, text=text), tmp_path, "node-test")
        assert (end.is_apart, end.frames, end.lines) == (is_apart, ("a.test.js",), (line,))


def test_a_test_of_node_that_is_cancelled_did_not_notice(tmp_path: Path) -> None:
    message = "test did not finish before its parent and was cancelled"
    case = Case((), "a", "a.test.js", Outcome.FAILED, message, f"{message}\n")
    assert effect_of(end_by_text(case, tmp_path, "node-test")) is Effect.CRASHED
