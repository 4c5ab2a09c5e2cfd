"""One finished run that many tests only look at: made once, never changed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from agent_fox.testing.worlds import NEVER, Req, World, run_cli


@dataclass(frozen=True)
class Finished:
    """A repository whose run has ended, and how that run ended."""

    root: Path
    done: CompletedProcess[str]

    def tell(self, *arguments: str) -> str:
        """What a command that changes nothing prints; it must succeed."""
        done = run_cli(self.root, *arguments)
        assert (done.returncode, done.stderr) == (0, ""), done
        return done.stdout


def story() -> World:
    """A spec that is proven after a gibberish answer and a retry, one that never is, one that depends on that."""
    return World(
        {
            "01_calc": [Req("01-REQ-1.1"), Req("01-REQ-2.1", 2), Req("01-REQ-2.E1", 2, right_at=2)],
            "02_top": [Req("02-REQ-1.1", right_at=NEVER), Req("02-REQ-1.2")],
            "03_dep": [Req("03-REQ-1.1")],
        },
        depends={"03_dep": "02_top"},
        verifier_says={"01_calc/1/1": "I could not run the tests."},
    )


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Finished:
    root = story().build(tmp_path_factory.mktemp("finished") / "world")
    return Finished(root, run_cli(root, "run", "--parallel", "1"))
