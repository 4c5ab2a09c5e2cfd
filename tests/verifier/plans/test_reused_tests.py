"""Which files of tests run after a change. The table was written before the rule; one project for all of its rows."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from agent_fox.system.sandbox.bubblewrap import why_missing
from agent_fox.verifier.ground.results import Status, TestSummary, Tool, VerificationResult
from agent_fox.verifier.plans.carried_out import PlanRun
from agent_fox.verifier.plans.seen_before import SeenBefore
from agent_fox.verifier.plans.steps import Plan
from agent_fox.verifier.reporting.report import Step
from tests.verifier.made_projects import OWN_PATH, PYPROJECT, committed, verifier, write

pytestmark = pytest.mark.skipif(bool(why_missing()), reason="without a sandbox nothing is taken again")


def of(name: str, imports: str, *claims: str) -> tuple[str, str]:
    tests = "\n\n".join(f"def test_{number}():\n    assert {claim}" for number, claim in enumerate(claims))
    return f"tests/test_{name}.py", f"{imports}\n\n\n{tests}\n"


SETTINGS = PYPROJECT + 'addopts = "-ra"\n'
FILES = {
    "pyproject.toml": SETTINGS,
    ".gitignore": "local/\nvenv/\n",
    "README.md": "shop\n",
    "shop/__init__.py": "",
    "shop/price.py": "def total(amount):\n    return amount * 2\n",
    "shop/rates.py": "from pathlib import Path\n\n\ndef rate():\n    return int(Path('local/rate.txt').read_text())\n",
    "shop/registry.py": "KNOWN = {}\n",
    "shop/gift.py": "from shop.registry import KNOWN\n\nKNOWN['gift'] = lambda: 7\n",
    "shop/late.py": "def late():\n    from shop.limits import LIMIT\n    return LIMIT\n",
    "shop/limits.py": "LIMIT = 7\n",
    "shop/clock.py": "import datetime\n\n\ndef year():\n    return datetime.datetime.now().year\n",
    "shop/other.py": "def other():\n    return 1\n",
    "tests/conftest.py": "",
    "local/rate.txt": "3\n",
    "venv/lib/tax.py": "RATE = 1\n",
    **dict(
        [
            of("price", "from shop.price import total", "total(3) == 6", "total(0) == 0"),
            of("rates", "from shop.rates import rate", "rate() > 0"),
            of("dispatch", "import shop.gift\nfrom shop.registry import KNOWN", "KNOWN['gift']() > 0"),
            of("by_name", "from shop.registry import KNOWN", "[make() for make in KNOWN.values()] is not None"),
            of("late", "from shop.late import late", "late() > 0"),
            of("other", "from shop.other import other", "other() == 1"),
            of("clock", "from shop.clock import year", "year() > 2000"),
            of("chance", "import random", "random.random() < 1"),
            of("shell", "import subprocess", "subprocess.run(['true']).returncode == 0"),
        ]
    ),
}
ALL = {Path(path).stem.removeprefix("test_") for path in FILES if path.startswith("tests/test_")}
ALWAYS = {"clock", "chance", "shell"}
"""What asks a clock or chance; and what starts a program, which may ask both."""


class Shop:
    """A project of which nine files of tests were run once, and then measured."""

    def __init__(self, root: Path) -> None:
        self.root = root
        committed(root, FILES)
        self.verified()
        write(root, {"more.txt": "1\n"})
        self.verified()

    def verified(self) -> tuple[set[str], VerificationResult]:
        """The files of tests that ran, and what came of all."""
        time.sleep(0.1)
        tools = verifier(self.root)
        seen = SeenBefore(tools.context, self.root.parent / "seen/python.json", short=3600)
        (outcome,) = PlanRun(tools, Plan("mine", (Step(Tool.UNIT_TESTS),), "asked for"), seen=seen).report().outcomes
        if outcome.result.seen_at:
            return set(), outcome.result
        log = tools.store.path_of(outcome.result.artifacts[0].uri).read_text()
        return set(re.findall(r"^tests/test_(\w+)\.py ", log, re.MULTILINE)), outcome.result


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", OWN_PATH)
        root = tmp_path_factory.mktemp("shop") / "project"
        root.mkdir()
        yield Shop(root)


ROWS: dict[str, tuple[dict[str, str], set[str]]] = {
    "a module that one file of tests executes": ({"shop/price.py": "def total(n):\n    return n + n\n"}, {"price"}),
    "a hidden file that a test reads": ({"local/rate.txt": "4\n"}, {"rates"}),
    "what is executed by who does not name it": (
        {"shop/gift.py": "from shop.registry import KNOWN\n\nKNOWN['gift'] = lambda: 8\n"},
        {"dispatch", "by_name"},
    ),
    "a module that is loaded in the midst of a test": ({"shop/limits.py": "LIMIT = 8\n"}, {"late"}),
    "a file of tests": (dict([of("other", "from shop.other import other", "other() >= 1")]), {"other"}),
    "what no test reads": ({"README.md": "shop, once more\n"}, set()),
    "two at once": ({"shop/price.py": FILES["shop/price.py"], "shop/limits.py": "LIMIT = 9\n"}, {"price", "late"}),
    "a conftest": ({"tests/conftest.py": "import shop\n"}, ALL),
    "settings": ({"pyproject.toml": SETTINGS.replace("-ra", "-rA")}, ALL),
    "an installed package": ({"venv/lib/tax.py": "RATE = 2\n"}, ALL),
    "a file that is added": ({"shop/added.py": "ADDED = 1\n"}, ALL),
}


@pytest.mark.parametrize("row", ROWS)
def test_after_a_change_those_run_that_it_concerns_and_those_of_which_nobody_knows(shop: Shop, row: str) -> None:
    files, concerned = ROWS[row]
    write(shop.root, files)
    ran, result = shop.verified()
    assert ran == concerned | ALWAYS
    assert result.status is Status.PASSED
    assert result.test_summary == TestSummary(10, 10)
    reused = [note for note in result.notes if note.startswith("reused: ")]
    assert bool(reused) == (concerned != ALL)
    if reused:
        assert reused[0].startswith(f"reused: {10 - len(ran) - ('price' in ran)} of 10 tests, seen at commit ")


def test_what_fails_counts_beside_what_was_not_run_and_is_run_again(shop: Shop) -> None:
    shop.verified()
    write(shop.root, {"shop/other.py": "def other():\n    return 0\n"})
    ran, result = shop.verified()
    assert (ran, result.status) == ({"other"} | ALWAYS, Status.FAILED)
    assert result.test_summary == TestSummary(10, 9, 1)
    assert shop.verified()[0] == {"other"} | ALWAYS
    write(shop.root, {"shop/other.py": FILES["shop/other.py"]})
    assert shop.verified()[0] == ALWAYS


def wanted_share(root: Path) -> None:
    write(root, {"pyproject.toml": SETTINGS + "[tool.coverage.report]\nfail_under = 90\n"})


def moved_settings(root: Path) -> None:
    write(root, {"tests/pytest.ini": "[pytest]\n"})


def without_its_tests(root: Path) -> None:
    write(root, {"shop/price.py": "import pytest\n\npytest.skip('gone', allow_module_level=True)\n"})


@pytest.mark.parametrize("change", [moved_settings, without_its_tests, wanted_share])
def test_where_a_part_does_not_tell_what_all_would_come_to_all_run(shop: Shop, change: Callable[[Path], None]) -> None:
    before = (shop.root / "shop/price.py").read_text()
    change(shop.root)
    shop.verified()
    write(shop.root, {"shop/limits.py": "LIMIT = 3\n"})
    ran, result = shop.verified()
    write(shop.root, {"shop/price.py": before})
    write(shop.root, {"pyproject.toml": SETTINGS})
    (shop.root / "tests/pytest.ini").unlink(missing_ok=True)
    assert ran >= ALL - {"price"}
    assert not any(note.startswith("reused: ") for note in result.notes)
