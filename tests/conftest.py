"""What all tests begin with, and the options that choose among them."""

from __future__ import annotations

import gc
import os
import signal
from pathlib import Path

import hypothesis
import pytest

from tests.choosing import Flaky, keep_part, mark_long
from tests.counting import Counting

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell starts what runs in its background with SIGINT ignored, and so would be all that a test starts.
    signal.signal(signal.SIGINT, signal.default_int_handler)

# What is too slow is shown by `make bench`; an example that is slow on a busy machine is no failure.
hypothesis.settings.register_profile("unhurried", deadline=None)
hypothesis.settings.load_profile("unhurried")


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("agent_fox")
    group.addoption("--part", type=int, metavar="SEED", help="only the part of the long tests that the seed chooses")
    group.addoption("--flaky", type=Path, metavar="FILE", help="name what passed in a second try (with --last-failed)")
    group.addoption("--budgets", action="store_true", help="fail where more is started than tests/budgets.toml allows")


def pytest_configure(config: pytest.Config) -> None:
    gc.disable()  # nearly all that collecting tests makes stays to the end
    config.pluginmanager.register(Counting(is_held=config.getoption("--budgets")))
    flaky = config.getoption("--flaky")
    if flaky is not None:
        config.pluginmanager.register(Flaky(flaky, is_second_try=config.getoption("lf", False)))


@pytest.hookimpl(tryfirst=True)  # before pytest looks at the marks
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    is_second_try = config.getoption("lf", False)  # which collects the files with failures alone
    mark_long(items, is_whole=config.args == config.getini("testpaths") and not is_second_try)
    seed = config.getoption("--part")
    if seed is not None:
        keep_part(items, config, seed)


def pytest_collection_finish() -> None:
    """What was collected is not looked through again and again."""
    gc.freeze()
    gc.enable()


@pytest.fixture(autouse=True, scope="session")
def state_home(tmp_path_factory: pytest.TempPathFactory) -> None:
    """What is kept outside of repositories lies in a folder of this run's, not in a person's."""
    os.environ["XDG_STATE_HOME"] = str(tmp_path_factory.mktemp("state-home"))
