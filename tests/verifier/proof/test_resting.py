"""What a passing requirement rests on, as a reading of a real project measures it, and which changes touch that.

The table was written before the rule. One reading, by real pytest, for all rows.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from agent_fox.core.verdicts.scope import Kind, Scope, TreeChange, touched
from agent_fox.core.verdicts.verdict import Word
from agent_fox.testing.worlds import new_repository
from agent_fox.verifier.ground.order import CheckOrder, Counterfactual
from agent_fox.verifier.judging.checks import run_checks

YEAR = "datetime.date.today().year"
PYTHON = "subprocess.run([sys.executable, 'shop/child.py', '4'], capture_output=True, text=True)"


def claim(number: int, name: str, imports: str, body: str) -> tuple[str, str]:
    return f"tests/test_{name}.py", f"{imports}\n\n\ndef test_01_REQ_1_{number}_{name}():\n    {body}\n"


FILES = {
    ".gitignore": "__pycache__/\n.pytest_cache/\n",
    "pyproject.toml": '[tool.pytest.ini_options]\npythonpath = ["."]\n',
    "conftest.py": "",
    "shop/__init__.py": "",
    "shop/price.py": "from shop.rates import RATE\n\n\ndef total(amount):\n    return amount * RATE\n",
    "shop/rates.py": "import json\nfrom pathlib import Path\n\nHERE = Path(__file__).parent\n"
    'RATE = json.loads((HERE / "rates.json").read_text())["rate"]\n',
    "shop/rates.json": '{"rate": 2}\n',
    "shop/plugins/__init__.py": "",
    "shop/plugins/gift.py": "NAME = 'gift'\n",
    "shop/found.py": "import pkgutil\n\nimport shop.plugins\n\n\ndef names():\n"
    "    return sorted(each.name for each in pkgutil.iter_modules(shop.plugins.__path__))\n",
    "shop/optional.py": "try:\n    import fastmath\nexcept ImportError:\n    fastmath = None\n\n\n"
    "def double(x):\n    return fastmath.double(x) if fastmath else x + x\n",
    "shop/switch.py": "from pathlib import Path\n\n\ndef is_on():\n"
    "    return not (Path(__file__).parent / 'off.flag').exists()\n",
    "shop/slow.py": "def late():\n    from shop.limits import LIMIT\n    return LIMIT\n",
    "shop/limits.py": "LIMIT = 7\n",
    "shop/clock.py": "import datetime\n\n\ndef age(born):\n    return datetime.date.today().year - born\n",
    "shop/child.py": "import sys\n\nprint(int(sys.argv[1]) + 1)\n",
    "shop/other.py": "def unused():\n    return 1\n",
    "shop/shell.py": "import subprocess\n\n\ndef echo(n):\n"
    "    return int(subprocess.run(['echo', str(n)], capture_output=True, text=True).stdout)\n",
    "shop/reader.py": "from pathlib import Path\n\n\ndef prints():\n"
    "    return (Path(__file__).parent / 'old.py').read_text().count('print')\n",
    "shop/old.py": "print 'a Python that is gone'\n",
    **dict(
        (
            claim(1, "price", "from shop.price import total", "assert total(3) == 6"),
            claim(2, "found", "from shop.found import names", "assert names() == ['gift']"),
            claim(3, "optional", "from shop.optional import double", "assert double(2) == 4"),
            claim(4, "switch", "from shop.switch import is_on", "assert is_on()"),
            claim(5, "slow", "import shop.limits\nfrom shop.slow import late", "assert late() == 7"),
            claim(6, "clock", "import datetime\nfrom shop.clock import age", f"assert age({YEAR} - 5) == 5"),
            claim(7, "child", "import subprocess\nimport sys", f"assert {PYTHON}.stdout == '5\\n'"),
            claim(8, "shell", "from shop.shell import echo", "assert echo(3) == 3"),
            claim(9, "late_first", "from shop.slow import late", "assert late() == 7"),
            claim(10, "reader", "from shop.reader import prints", "assert prints() == 1"),
        )
    ),
    "docs/readme.md": "words\n",
}  # fmt: skip

ID = "01-REQ-1.{}".format
NAMES = {
    1: "price",
    2: "found",
    3: "optional",
    4: "switch",
    5: "slow",
    6: "clock",
    7: "child",
    8: "shell",
    9: "late_first",
    10: "reader",
}


def git(root: Path, *words: str) -> None:
    who = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
    subprocess.run(["git", *who, *words], cwd=root, check=True, capture_output=True)


def reading(root: Path) -> CheckOrder:
    """The project, as one commit on an empty one, and the order to judge it."""
    root.mkdir()
    new_repository(root)
    git(root, "commit", "-qm", "nothing yet", "--allow-empty")
    base = subprocess.run(["git", "rev-parse", "HEAD"], cwd=root, check=True, capture_output=True, text=True).stdout
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    git(root, "add", "-A")
    git(root, "commit", "-qm", "all of it")
    line = " ".join(("python -m pytest -q", *(f"tests/test_{name}.py" for name in NAMES.values())))
    return CheckOrder(
        {ID(number): "it works" for number in NAMES}, str(root), commands={"Spec tests": line},
        repository=str(root), base_commit=base.strip(), counterfactual=Counterfactual.REQUIRE,
    )  # fmt: skip


def measured(order: CheckOrder) -> dict[str, Scope]:
    verdicts = run_checks(order).verdicts
    assert [verdict.word for verdict in verdicts] == [Word.PASS] * len(NAMES), [v.evidence for v in verdicts]
    return {verdict.requirement_id: verdict.rests_on or Scope(whole="nothing") for verdict in verdicts}


@pytest.fixture(scope="module")
def scopes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Scope]:
    return measured(reading(tmp_path_factory.mktemp("shop") / "repo"))


def changed(path: str) -> TreeChange:
    """The change of one file: new where the project has none of that name; one with a minus is taken away."""
    kind = Kind.GONE if path.startswith("-") else Kind.OTHER if path in FILES else Kind.ADDED
    file = path.removeprefix("-")
    known = {folder for name in FILES for folder in Path(name).parents}
    return TreeChange({file: kind}, frozenset(str(f) for f in Path(file).parents if f not in known and str(f) != "."))


TOUCHED = [
    (1, "shop/price.py"), (1, "shop/rates.py"), (1, "shop/rates.json"), (1, "shop/__init__.py"), (1, "conftest.py"),
    (1, "tests/test_price.py"), (1, "tests/conftest.py"), (1, "pyproject.toml"), (1, "poetry.lock"), (1, "json.py"),
    (1, "shop/price/__init__.py"), (1, "-shop/rates.json"), (1, "pathlib/__init__.py"),
    (2, "shop/plugins/ribbon.py"), (2, "-shop/plugins/gift.py"), (2, "shop/plugins/__init__.py"),
    (3, "fastmath.py"), (3, "shop/optional.py"), (3, "fastmath/__init__.py"), (3, "fastmath/core.py"),
    (4, "shop/off.flag"),
    (5, "shop/limits.py"), (9, "shop/limits.py"), (9, "shop/slow.py"),
    (6, "docs/readme.md"), (8, "docs/readme.md"), (1, "shop"), (1, "tests"),
    (7, "shop/child.py"), (7, "tests/test_child.py"),
]  # fmt: skip
ELSEWHERE = ("docs/readme.md", "shop/other.py", "shop/clock.py")
LEFT_ALONE = [
    *((number, path) for number in (1, 2, 3, 4, 5, 7, 9) for path in ELSEWHERE),
    (1, "tests/test_new.py"), (1, "shop/new.py"), (1, "shop/plugins/ribbon.py"), (1, "shop/limits.py"),
    (2, "shop/rates.json"), (2, "docs/more.md"), (3, "shop/off.flag"), (4, "shop/on.flag"), (4, "shop/price.py"),
    (7, "shop/price.py"), (7, "tests/other/conftest.py"), (5, "shop/switch.py"),
]  # fmt: skip


@pytest.mark.parametrize(("number", "path"), TOUCHED)
def test_what_could_change_the_outcome_touches_it(scopes: dict[str, Scope], number: int, path: str) -> None:
    assert touched(scopes[ID(number)], changed(path))


@pytest.mark.parametrize(("number", "path"), LEFT_ALONE)
def test_what_could_not_leaves_it_alone(scopes: dict[str, Scope], number: int, path: str) -> None:
    assert touched(scopes[ID(number)], changed(path)) == ""


def test_what_cannot_be_measured_rests_on_the_whole_tree_and_says_why(scopes: dict[str, Scope]) -> None:
    reasons = {name: scopes[ID(number)].whole for number, name in NAMES.items() if scopes[ID(number)].whole}
    assert reasons == {
        "clock": "shop/clock.py asks what time it is",
        "shell": "shop/shell.py starts echo",
        "reader": "shop/old.py cannot be parsed here: what it imports is not known",
    }  # fmt: skip
