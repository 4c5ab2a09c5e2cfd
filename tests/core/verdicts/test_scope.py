"""What touches a verdict, and which preparations of a workspace leave a trace. Pure rules."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_fox.core.verdicts.scope import (
    MOST_PATHS,
    Kind,
    Scope,
    TreeChange,
    bounded,
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


def test_what_cannot_be_kept_as_it_is_is_the_whole_tree() -> None:
    assert bounded(Scope(files=tuple(f"f{n}" for n in range(MOST_PATHS + 1)))).whole
    assert bounded(Scope(files=("bell\a.txt",))).whole
    assert joined([Scope(files=("a",)), whole_tree("why")]) == whole_tree("why")


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
