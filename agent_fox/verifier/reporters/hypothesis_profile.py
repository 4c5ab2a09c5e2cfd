"""A plugin for pytest, run by the project's interpreter: hypothesis tries the same examples every time."""

import os

import pytest
from hypothesis import settings


@pytest.hookimpl(trylast=True)
def pytest_configure() -> None:
    """After the project's conftest, so that its own profile does not hold."""
    settings.register_profile(
        "agent-fox",
        derandomize=True,
        database=None,
        deadline=None,
        print_blob=True,
        max_examples=int(os.environ["AGENT_FOX_EXAMPLES"]),
    )
    settings.load_profile("agent-fox")
