"""What a client may name: modules of the project and tests, and nothing that could be anything else."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_fox.verifier.ground.request import Refused
from agent_fox.verifier.profiles.inputs import LONGEST, Selected, known_module, selected
from agent_fox.verifier.profiles.model import SelectorKind
from tests.verifier.made_projects import write

HOSTILE = [
    "", " ", "-k not_slow", "--collect-only", "-Dmaven.test.skip=true", "@options", "+x", "a;b", "a && b", "a|b",
    "`id`", "$(id)", "a\nb", "a\x00b", "a\tb", "a\x1b[31m", "a\u202eb", "a>b", "a<b", "a'b", 'a"b', "a\\b",
    "x" * (LONGEST + 1), "../etc/passwd", "/etc/passwd", "tests/../../x", " a", "a ",
]  # fmt: skip


@pytest.fixture
def root(tmp_path: Path) -> Path:
    outside = write(tmp_path / "outside", {"secret.py": ""})
    root = write(tmp_path / "root", {"tests/test_a.py": "", "src/a.test.ts": "", "auth/a_test.go": "", "-x.py": ""})
    (root / "tests/out").symlink_to(outside)
    return root


def is_refused(kind: SelectorKind, selector: str, root: Path) -> bool:
    try:
        selected(kind, selector, root, root)
    except Refused:
        return True
    return False


def test_a_hostile_selector_is_refused_by_every_runner(root: Path) -> None:
    pairs = itertools.product(SelectorKind, HOSTILE)
    assert [(kind, selector) for kind, selector in pairs if not is_refused(kind, selector, root)] == []


@pytest.mark.parametrize(
    ("kind", "selector", "chosen"),
    [
        ("pytest", "tests/test_a.py", Selected(path="tests/test_a.py")),
        ("pytest", "tests", Selected(path="tests")),
        ("pytest", "tests/test_a.py::TestB::test_c", Selected(path="tests/test_a.py::TestB::test_c")),
        ("pytest", "tests/test_a.py::test_c[a-(1, 2)::x]", Selected(path="tests/test_a.py::test_c[a-(1, 2)::x]")),
        ("unittest", "tests.test_a.TestB.test_c", Selected(name="tests.test_a.TestB.test_c")),
        ("unittest", "tests/test_a.py", Selected(name="tests/test_a.py")),
        ("surefire", "AuthTest#rejects+accepts", Selected(name="AuthTest#rejects+accepts")),
        ("surefire", "com.acme.Outer$InnerTest", Selected(name="com.acme.Outer$InnerTest")),
        ("surefire", "Auth*Test,OtherTest", Selected(name="Auth*Test,OtherTest")),
        ("gradle", "com.acme.AuthTest.rejects it", Selected(name="com.acme.AuthTest.rejects it")),
        ("go", "TestA/one two", Selected(name="TestA/one two", pattern="^TestA$/^one_two$")),
        ("go", "TestA/a+b", Selected(name="TestA/a+b", pattern=r"^TestA$/^a\+b$")),
        ("go", "auth::TestA", Selected("./auth", "TestA", "^TestA$")),
        ("go", "auth/a_test.go", Selected("./auth")),
        ("cargo", "auth::tests::rejects", Selected(name="auth::tests::rejects")),
        ("ctest", "unit.auth", Selected(name="unit.auth", pattern=r"^unit\.auth$")),
        ("javascript", "src/a.test.ts", Selected("src/a.test.ts")),
        ("javascript", "src/a.test.ts::adds (1 + 1)", Selected("src/a.test.ts", "adds (1 + 1)", r"adds \(1 \+ 1\)")),
        ("javascript", "(a+)+b", Selected(name="(a+)+b", pattern=r"\(a\+\)\+b")),
    ],
)
def test_each_runner_names_tests_in_its_own_way(root: Path, kind: str, selector: str, chosen: Selected) -> None:
    assert selected(SelectorKind(kind), selector, root, root) == chosen


@pytest.mark.parametrize(
    ("kind", "selector", "code"),
    [
        ("pytest", "tests/gone.py::test_a", "no_such_path"),
        ("pytest", "-x.py", "selector_invalid"),
        ("pytest", "./-x.py", "selector_invalid"),
        ("pytest", "tests/out/secret.py::test_a", "path_escape"),
        ("pytest", "tests/test_a.py::test_a()", "selector_invalid"),
        ("javascript", "src/gone.test.ts", "no_such_path"),
        ("javascript", "src/a.test.ts::-x", "selector_invalid"),
        ("go", "auth::Login", "selector_invalid"),
        ("go", ".*", "selector_invalid"),
        ("cargo", "a::b c", "selector_invalid"),
        ("surefire", "*" * 9, "selector_invalid"),
        ("surefire", "!SlowTest", "selector_invalid"),
        ("surefire", "%regex[.*]", "selector_invalid"),
    ],
)
def test_a_refusal_says_why_in_a_word(root: Path, kind: str, selector: str, code: str) -> None:
    with pytest.raises(Refused) as refused:
        selected(SelectorKind(kind), selector, root, root)
    assert refused.value.code == code


@settings(max_examples=400, deadline=None)
@given(
    kind=st.sampled_from(SelectorKind),
    selector=st.text(st.sampled_from("aT/._:#-+*$[]() ,=~\\'\"\n;&|`<>{}^?!@%é0"), max_size=30),
)
def test_no_accepted_selector_is_an_option_or_a_runaway_pattern(kind: SelectorKind, selector: str) -> None:
    here = Path(__file__).parent
    try:
        chosen = selected(kind, selector, here, here)
    except Refused:
        return
    assert not any(part.startswith("-") for part in (chosen.path, chosen.name, chosen.pattern))
    assert all(part.isprintable() and not set(part) & set(";|&`<>\"'\n") for part in (chosen.path, chosen.name))
    assert not re.search(r"(?<!\\)[*+?{(|]", chosen.pattern)


def test_a_module_may_be_written_in_a_few_ways() -> None:
    places = {"service-a": 1, "libs/core": 2}
    written = ("service-a", "./service-a", "service-a/", "libs/core", ":libs:core")
    assert [known_module(one, places) for one in written] == [1, 1, 1, 2, 2]


@pytest.mark.parametrize(
    "module",
    [
        "",
        ".",
        "..",
        "../x",
        "/etc",
        "-x",
        "service-b",
        "service-a;id",
        "service-a\n",
        "x" * 999,
        ":",
        "*",
        "libs/../service-a",
    ],
)
def test_a_module_that_detection_did_not_find_is_refused(module: str) -> None:
    with pytest.raises(Refused, match="module") as refused:
        known_module(module, {"service-a": 1, "libs/core": 2})
    assert refused.value.code == "unknown_module"


def test_an_unknown_module_is_answered_with_the_nearest() -> None:
    with pytest.raises(Refused, match="did you mean service-a"):
        known_module("service-aa", {"service-a": 1, "libs/core": 2})
