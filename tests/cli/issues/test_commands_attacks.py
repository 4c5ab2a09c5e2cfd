"""What a planted link, a number or an address can do to `agent-fox issues export` and `adopt`. GitHub is the fake."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_fox.testing.worlds import run_cli
from tests.cli.conftest import Finished
from tests.cli.issues.test_commands_github import Place, place

__all__ = ["place"]


def test_an_export_does_not_go_where_a_planted_link_leads(finished: Finished, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (tmp_path / "out").symlink_to(elsewhere)
    done = run_cli(finished.root, "issues", "export", "--output", str(tmp_path / "out"), "--force")
    assert done.returncode == 1
    assert "a link" in done.stderr
    assert list(elsewhere.iterdir()) == []


@pytest.mark.parametrize("number", ["9" * 5000, "9" * 10, "-1", "0", "1e3", "\u0661", "#", "../1", ""])
def test_what_is_no_number_of_an_issue_is_a_mistake_of_one_line(finished: Finished, number: str) -> None:
    done = run_cli(finished.root, "issues", "adopt", "--for", "02_top", "--", number)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_the_address_of_an_issue_elsewhere_is_not_taken_for_the_number_here(place: Place) -> None:
    place.cli("run", token="")
    place.fake.person("alex").opens("A wish")
    for elsewhere in ("https://github.com/octo/project/issues/1", f"{place.address}x/issues/1", "https://[/issues/1"):
        address = elsewhere if "://" in elsewhere else f"http://{elsewhere}"
        done = place.cli("issues", "adopt", address, "--for", "01_a")
        assert (done.returncode, len(done.stderr.splitlines())) == (1, 1)
        assert "not an issue of" in done.stderr
    assert place.fake.issues[0].comments == []
    assert place.cli("issues", "adopt", f"http://{place.address}/issues/1", "--for", "01_a").returncode == 0
