"""What touches a verdict, and which preparations of a workspace leave a trace. Pure rules."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_fox.core.verdicts.scope import (
    LONGEST_PATH,
    MOST_PATHS,
    Kind,
    Scope,
    TreeChange,
    bounded,
    is_test_like,
    joined,
    made_by_setup,
    touched,
    whole_tree,
)

paths = st.sampled_from(
    ["a.py", "b/c.py", "b/d.json", "tests/test_a.py", "tests/conftest.py", "docs/x.md", "pyproject.toml"]
)
scopes = st.builds(
    Scope, st.lists(paths, max_size=3).map(tuple), st.sampled_from([(), ("b",), ("tests",)]),
    st.sampled_from([(), ("tests/test_a.py",), ("tests",), ("",)]),
    st.lists(st.sampled_from("abx"), max_size=2).map(tuple),
)  # fmt: skip
changes = st.dictionaries(paths, st.sampled_from(Kind), max_size=4).map(TreeChange)


@given(scopes, changes, paths, st.sampled_from(Kind))
def test_a_larger_change_or_scope_never_touches_less(scope: Scope, change: TreeChange, path: str, kind: Kind) -> None:
    if touched(scope, change):
        assert touched(scope, TreeChange({**{path: kind}, **change.files}))
        assert touched(joined([scope, Scope(files=(path,))]), change)
        assert touched(whole_tree("why"), change)


@given(scopes)
def test_what_did_not_change_touches_nothing(scope: Scope) -> None:
    assert touched(scope, TreeChange({})) == ""


def test_the_reason_names_the_file_what_became_of_it_and_why() -> None:
    assert touched(Scope(files=("a.py",)), TreeChange({"z.md": Kind.ADDED, "a.py": Kind.OTHER})) == (
        "a.py was changed: its tests execute, read or look for it"
    )
    assert touched(whole_tree("it asks a clock"), TreeChange({"z.md": Kind.ADDED})) == (
        "it rests on the whole tree: it asks a clock"
    )


SEEN = Scope(("pkg/core/a.py", "data", "lib/x"), ("docs",), ("tests", "run/one.txt"), ("helper",))

EXECUTED = "its tests execute, read or look for it"
LINKED = "its tests use what lies behind that link or submodule"
CHOSEN = "its test command chooses from there"
SETTINGS = "settings and lock files are read without a trace"
BESIDE = "it is read for every file below its folder"
LISTED = "its tests list that folder"
FOLDER = "its tests look for that folder"
LANGUAGE = "a module of the language has that name"
NAMED = "a module of that name is asked for"


@pytest.mark.parametrize(
    ("path", "kind", "why"),
    [
        ("pkg/core/a.py", Kind.OTHER, EXECUTED),
        ("pkg/core/b.py", Kind.OTHER, ""),
        ("pkg/core", Kind.OTHER, LINKED),
        ("run", Kind.GONE, LINKED),
        ("run/one.txt", Kind.OTHER, CHOSEN),
        ("tests/deep/b.py", Kind.OTHER, CHOSEN),
        ("tests/data.txt", Kind.OTHER, ""),
        ("other/test_b.py", Kind.OTHER, ""),
        ("other/Pipfile", Kind.OTHER, SETTINGS),
        ("pkg/conftest.py", Kind.OTHER, BESIDE),
        ("__init__.py", Kind.OTHER, BESIDE),
        ("pkg/core/sub/conftest.py", Kind.OTHER, ""),
        ("pkg/notes.txt", Kind.OTHER, ""),
        ("docs/x.md", Kind.OTHER, ""),
        ("docs/sub/x.md", Kind.GONE, LISTED),
        ("data/x.txt", Kind.ADDED, ""),
        ("json.py", Kind.ADDED, LANGUAGE),
        ("json/x.txt", Kind.ADDED, ""),
        ("src/deep/helper.py", Kind.ADDED, NAMED),
        ("src/helper.cpython-311.so", Kind.GONE, NAMED),
        ("src/helper.py", Kind.OTHER, ""),
        ("src/helper.txt", Kind.ADDED, ""),
        ("helper/x.txt", Kind.ADDED, ""),
        ("src/other.py", Kind.ADDED, ""),
    ],
)
def test_a_file_touches_a_verdict_for_one_reason(path: str, kind: Kind, why: str) -> None:
    assert touched(SEEN, TreeChange({path: kind})) == (f"{path} was {kind}: {why}" if why else "")


@pytest.mark.parametrize(
    ("folder", "why"), [("data", FOLDER), ("json", LANGUAGE), ("src/helper", NAMED), ("other", ""), ("lib", "")]
)
def test_a_folder_that_came_touches_it_where_it_was_looked_for_or_has_the_name_of_a_module(
    folder: str, why: str
) -> None:
    path = f"{folder}/deep/x.txt"
    change = TreeChange({path: Kind.ADDED}, frozenset({folder, f"{folder}/deep"}))
    assert touched(SEEN, change) == (f"{path} was added: {why}" if why else "")


def test_the_root_is_a_folder_as_any_other() -> None:
    assert touched(Scope(folders=("",)), TreeChange({"x.md": Kind.ADDED})) == f"x.md was added: {LISTED}"
    assert touched(Scope(below=("",)), TreeChange({"a/test_b.py": Kind.OTHER})) == f"a/test_b.py was changed: {CHOSEN}"


@pytest.mark.parametrize(
    ("path", "is_taken"),
    [("tests/a.py", True), ("a/Test_A.py", True), ("a/b.py", False), ("tests/a.txt", False), ("tests/A.PY", False)],
)
def test_a_runner_takes_a_python_file_for_a_test_by_its_path(path: str, is_taken: bool) -> None:
    assert is_test_like(path) is is_taken


def test_what_cannot_be_kept_as_it_is_is_the_whole_tree() -> None:
    many = Scope(files=tuple(f"f{n}" for n in range(MOST_PATHS)))
    assert bounded(many) == many
    assert joined([many, Scope(names=("f",))]) == whole_tree(
        f"it rests on {MOST_PATHS + 1} paths, more than are kept of one verdict"
    )
    long = Scope(folders=("long" * (LONGEST_PATH // 4),))
    assert bounded(long) == long
    assert bounded(Scope(folders=(f"{long.folders[0]}r",))) == whole_tree(
        f"it rests on a path that is not kept as it is: '{'long' * 20}'"
    )
    assert bounded(Scope(below=("bell\a.txt",))) == whole_tree(
        "it rests on a path that is not kept as it is: 'bell\\x07.txt'"
    )


def test_verdicts_rest_together_on_all_that_each_rests_on() -> None:
    assert joined([Scope(("b", "a"), ("c",), ("d",), ("m",)), Scope(("b",), ("e",), ("f",), ("l",))]) == Scope(
        ("a", "b"), ("c", "e"), ("d", "f"), ("l", "m")
    )
    assert joined([]) == Scope()
    assert joined([Scope(files=("a",)), whole_tree("why"), whole_tree("else")]) == whole_tree("why")


@pytest.mark.parametrize(
    "line",
    ["pip install -r requirements.txt", "python -m pip install -e .", "uv sync --frozen", "npm ci", "uv venv",
     "python3 -m venv .venv", "poetry install", "pip install pytest", "uv pip install -e '.[dev]'",
     "pnpm install --frozen-lockfile"],
)  # fmt: skip
def test_an_installer_leaves_a_trace_in_settings_and_lock_files(line: str) -> None:
    assert made_by_setup([line]) == ""


@pytest.mark.parametrize(
    "line",
    ["pip install .", "python -m pip install ./lib", "uv sync --no-editable", "make generate", "npm run build",
     "python setup.py build_ext", "pip install file:lib", "sh prepare.sh", "pip install -e . && make gen"],
)  # fmt: skip
def test_what_makes_something_of_the_tree_is_not_measured(line: str) -> None:
    assert line in made_by_setup(["npm ci", line])
