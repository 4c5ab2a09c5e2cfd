"""The one step that may use a network is apart from the others, and knows its token by name alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_fox.verifier.ground.request import Refused, Unavailable, Why
from agent_fox.verifier.profiles.loading import load_profile
from agent_fox.verifier.profiles.narrowing import Allowed, narrowed
from agent_fox.verifier.profiles.network import ResolveStep, resolve_step
from tests.verifier.profiles import projects
from tests.verifier.profiles.projects import project, stand_in


def test_dependencies_are_fetched_by_a_step_of_its_own(tmp_path: Path) -> None:
    root = project(tmp_path / "root", projects.NODE)
    step = resolve_step(load_profile("javascript-npm"), root, search=stand_in(root, "npm"))
    assert isinstance(step, ResolveStep)
    assert step.display == ("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
    assert step.token_environment_name == "NPM_TOKEN"


def test_without_a_network_there_is_no_such_step(tmp_path: Path) -> None:
    root = project(tmp_path / "root", projects.NODE)
    with pytest.raises(Refused) as refused:
        resolve_step(narrowed(load_profile("javascript-npm"), {}, Allowed()), root)
    assert refused.value.code == "network_denied"


def test_a_project_without_a_lock_file_has_no_such_step(tmp_path: Path) -> None:
    root = project(tmp_path / "root", projects.PYTEST)
    step = resolve_step(load_profile("python"), root)
    assert isinstance(step, Unavailable)
    assert step.kind is Why.NO_COMMAND
