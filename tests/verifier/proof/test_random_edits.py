"""Three hundred edits by chance: none that changes an outcome may leave the verdict fresh. Real pytest decides both.

One reading measures what each requirement rests on; then every edit is made in a copy, its tests run, and what came of
them is held against what the scopes said.
"""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest

from agent_fox.core.verdicts.scope import Kind, Scope, TreeChange, touched
from tests.verifier.proof.test_resting import FILES, ID, NAMES, measured, reading

EDITS = 300
RANDOM_NAMES = (
    "json.py", "pathlib.py", "fastmath.py", "fastmath/__init__.py", "conftest.py", "tests/conftest.py", "shop/json.py",
    "shop/off.flag", "shop/plugins/ribbon.py", "shop/price/__init__.py", "tests/test_new.py", "tests/__init__.py",
    "pytest.ini", "docs/more.md", "shop/new.py", "shop/rates/__init__.py", "sitecustomize.py", "shop/limits/x.txt",
    "shop/plugins/deep/__init__.py", "data/rates.json", "subprocess.py", "shop.py", "tests/shop/__init__.py",
)  # fmt: skip
TEXTS = (
    "",
    "RATE = 3\n",
    "raise ValueError('broken')\n",
    "def double(x):\n    return 5\n",
    "[pytest]\n",
    '{"rate": 4}\n',
)
"""What a file that is added may say."""

Tree = dict[str, str]


def added(tree: Tree, chance: random.Random) -> Tree:
    return {**tree, chance.choice(RANDOM_NAMES): chance.choice(TEXTS)}


def removed(tree: Tree, chance: random.Random) -> Tree:
    gone = chance.choice(sorted(tree))
    return {path: text for path, text in tree.items() if path != gone}


def moved(tree: Tree, chance: random.Random) -> Tree:
    path, place = chance.choice(sorted(tree)), chance.choice(RANDOM_NAMES)
    return {**removed_path(tree, path), place: tree[path]}


def removed_path(tree: Tree, path: str) -> Tree:
    return {each: text for each, text in tree.items() if each != path}


def rewritten(tree: Tree, chance: random.Random) -> Tree:
    """A number, a word or a line of a file is another one, or is gone."""
    path = chance.choice(sorted(path for path in tree if tree[path].strip()))
    lines = tree[path].splitlines(keepends=True)
    at = chance.randrange(len(lines))
    changes: tuple[Callable[[str], str], ...] = (
        lambda line: "".join(str((int(c) + 1) % 10) if c.isdigit() else c for c in line),
        lambda line: "",
        lambda line: line.replace("return ", "return None or "),
        lambda line: f"# {line}",
        lambda line: line + line,
        lambda line: line.replace("shop", "shop_"),
    )
    lines[at] = chance.choice(changes)(lines[at])
    return {**tree, path: "".join(lines)}


MAKES = (added, added, removed, moved, rewritten, rewritten, rewritten, rewritten)


def between(one: Tree, other: Tree) -> TreeChange:
    paths = {path for path in {*one, *other} if one.get(path) != other.get(path)}
    kinds = {path: Kind.ADDED if path not in one else Kind.GONE if path not in other else Kind.OTHER for path in paths}
    return TreeChange(kinds, folders_of(one) ^ folders_of(other))


def folders_of(tree: Tree) -> frozenset[str]:
    return frozenset(str(folder) for path in tree for folder in Path(path).parents if str(folder) != ".")


def outcomes(root: Path, tree: Tree) -> dict[int, bool]:
    """For each requirement, whether its tests ran and passed by the command of the reading."""
    shutil.rmtree(root, ignore_errors=True)
    for path, text in tree.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        if not (root / path).is_dir():
            (root / path).write_text(text)
    tests = [f"tests/test_{name}.py" for name in NAMES.values()]
    report = root.parent / "report.xml"
    report.unlink(missing_ok=True)
    words = [sys.executable, "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider", "--continue-on-collection-errors"]
    there = [test for test in tests if (root / test).exists()]
    subprocess.run([*words, f"--junitxml={report}", *there], cwd=root, capture_output=True, timeout=120)
    passed = set()
    for case in ElementTree.parse(report).iter("testcase") if report.exists() else ():
        if len(case) == 0:
            passed.add(str(case.get("name")))
    return {number: f"test_01_REQ_1_{number}_{name}" in passed for number, name in NAMES.items()}


@pytest.fixture(scope="module")
def scopes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Scope]:
    return measured(reading(tmp_path_factory.mktemp("shop") / "repo"))


def test_no_edit_that_changes_an_outcome_leaves_a_verdict_fresh(tmp_path: Path, scopes: dict[str, Scope]) -> None:
    chance, accepted, kept, edits = random.Random(2026), [], 0, 0
    assert all(outcomes(tmp_path / "tree", FILES).values())
    while edits < EDITS:
        tree = chance.choice(MAKES)(FILES, chance)
        if tree == FILES or any(path in folders_of(tree) for path in tree):
            continue  # a file and a folder of one name cannot be
        edits, change = edits + 1, between(FILES, tree)
        fresh = [number for number in NAMES if not touched(scopes[ID(number)], change)]
        now = outcomes(tmp_path / "tree", tree) if fresh else {}
        kept += len(fresh)
        accepted += [(number, *change.files.items()) for number in fresh if not now[number]]
    assert accepted == []
    possible = EDITS * sum(not scope.whole for scope in scopes.values())
    assert kept > possible / 3, f"{kept} of {possible} verdicts that rest on less than all stayed fresh"
