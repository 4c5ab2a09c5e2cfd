"""Where most tests of the verifier begin: an empty workspace, and one with a small Python project in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.verifier.made_projects import OWN_PATH, PYTHON, committed


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder for a project, beside which artifacts may lie; our own Python comes first on PATH."""
    monkeypatch.setenv("PATH", OWN_PATH)
    root = tmp_path / "project"
    root.mkdir()
    return root


@pytest.fixture
def project(bare: Path) -> Path:
    committed(bare, PYTHON)
    return bare
