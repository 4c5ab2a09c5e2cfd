"""What the stories ask of a finished world, in the words of the stories. No test is here."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections import Counter
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

from agent_fox.cli.run.signals import FIRST
from agent_fox.evidence.verify import verify
from agent_fox.store.state import read_state
from agent_fox.system import clock
from agent_fox.testing import prefork
from agent_fox.testing.worlds import environment, log, rows, run_cli, wait_until

PROVEN, REFUSED, NOT_PROVEN, CEILING, CANNOT_GO_ON, INTERRUPTED = 0, 1, 2, 3, 4, 130
LONGEST_RUN = 300.0  # seconds, on a machine that is busy with other things


def run(root: Path, *options: str, ends: int, **variables: str) -> subprocess.CompletedProcess[str]:
    """`agent-fox run OPTIONS`, which must end with this exit code and never with a traceback."""
    done = run_cli(root, "run", *options, timeout=LONGEST_RUN, **variables)
    assert "Traceback" not in done.stderr, done.stderr
    assert done.returncode == ends, (done.returncode, done.stdout[-2000:], done.stderr[-2000:])
    if (root / ".agent-fox" / "state.db").exists() and ends != REFUSED:
        gates_and_standings_agree(root)
        ledger_is_whole(root)
    return done


def ledger_is_whole(root: Path) -> None:
    """Nothing that the engine wrote is taken for a forgery, whatever happened to it."""
    with closing(read_state(root / ".agent-fox" / "state.db")) as db, db.conn:
        found = verify(db, witness=None, signers=(), now=clock.now(), asks_witness=False)
    assert found.findings.faults == []


UNPROVEN = {"proposed", "rejected", "waived"}
STANDS = (
    "SELECT g.requirement_id, g.state, coalesce(v.outcome, v.status), coalesce(r.outcome, r.status, 'none'), "
    "coalesce(f.verdict, 'none') FROM gates AS g "
    "JOIN plan_nodes AS v ON v.spec_name = g.spec_name AND v.uid = g.spec_name || ':verifier' "
    "LEFT JOIN plan_nodes AS r ON r.spec_name = g.spec_name AND r.mode = 'final-review' AND r.status <> 'withdrawn' "
    "LEFT JOIN verification_results AS f ON f.spec_name = g.spec_name AND f.requirement_id = g.requirement_id "
    "AND f.superseded_by IS NULL WHERE v.status <> 'withdrawn'"
)


def gates_and_standings_agree(root: Path) -> None:
    """Two folds of the same decisions: what is verified has no lesser gate, and what fails has none that is more."""
    assert [why for row in rows(root, STANDS) if (why := disagreement(*row))] == []


def disagreement(part: object, gate: object, verifier: object, review: object, verdict: object) -> str:
    """How a gate contradicts its spec's verifier and review, or the verdict; empty where it does not."""
    is_proven = verifier in ("verified", "waived") and review != "blocked"
    if is_proven and gate in ("proposed", "rejected"):
        return f"{part} is {gate} although its spec is {verifier}"
    if is_proven and review == "reviewed" and gate == "tested":
        return f"{part} is {gate} although its spec is {review}"
    if verdict == "FAIL" and gate not in UNPROVEN:
        return f"{part} is {gate} although it fails"
    return ""


def begin(root: Path, *options: str, **variables: str) -> prefork.Call | subprocess.Popen[bytes]:
    """`agent-fox run OPTIONS` in the background, in a session of its own; `complaints` has its standard error."""
    with Path(os.devnull).open("r+b") as quiet, complaints(root).open("wb") as err:
        return prefork.begin(
            ["run", *options], cwd=root, env=environment(**variables), streams=(quiet, quiet, err), is_leader=True
        )


def complaints(root: Path) -> Path:
    return root.parent / "tools" / "stderr"


def press_once(root: Path, running: prefork.Call | subprocess.Popen[bytes]) -> None:
    """Ctrl-C, and until the run has seen it: a second one that comes earlier is taken for the same."""
    running.send_signal(signal.SIGINT)
    wait_until(lambda: FIRST in complaints(root).read_text(), "the run had seen the first Ctrl-C")


def wait_for_sessions(root: Path, count: int) -> None:
    wait_until(lambda: len(log(root)) >= count, f"{count} sessions had started")


def coders(root: Path) -> dict[str, int]:
    """How often each coder was launched, by the players' own log."""
    return dict(Counter(str(row["node"]) for row in log(root) if row["role"] == "coder"))


def order(root: Path) -> list[str]:
    """The nodes in the order in which they were launched."""
    return [str(row["node"]) for row in log(root)]


def briefed(root: Path, node: str, attempt: int) -> object:
    """What failed according to the brief of one coder session: id to evidence."""
    (row,) = (r for r in log(root) if (r["node"], r["attempt"], r["role"]) == (node, attempt, "coder"))
    return row["failing"]


def verdicts(root: Path) -> dict[str, str]:
    """The current verdict on each requirement."""
    current = rows(root, "SELECT requirement_id, verdict FROM verification_results WHERE superseded_by IS NULL")
    return {str(part): str(word) for part, word in current}


def outcomes(root: Path) -> dict[str, str]:
    """How each verifier that is part of the plan stands: its outcome, or its status where it has none."""
    found = rows(
        root,
        "SELECT id, coalesce(outcome, status) FROM plan_nodes WHERE archetype = 'verifier' AND status <> 'withdrawn'",
    )
    return {str(node): str(outcome) for node, outcome in found}


def decisions(root: Path, node: str) -> list[str]:
    """The kinds of decision about one node, oldest first."""
    return [str(kind) for (kind,) in rows(root, f"SELECT kind FROM decisions WHERE node_id = '{node}' ORDER BY id")]


def causes(root: Path) -> list[tuple[object, ...]]:
    """Node and cause of every row of the blocking history, oldest first."""
    return rows(root, "SELECT node_id, cause FROM blocking_history ORDER BY id")


def report(words: Mapping[str, str], evidence: str = "as seen", overall: str | None = None) -> str:
    """A verifier's answer with these words."""
    told = [{"requirement_id": part, "verdict": word, "evidence": evidence} for part, word in words.items()]
    is_good = all(word == "PASS" for word in words.values())
    return json.dumps({"verdicts": told, "overall_verdict": overall or ("PASS" if is_good else "FAIL")})


def configure(root: Path, old: str, new: str) -> None:
    """Change a line of the settings."""
    path = root / ".agent-fox" / "config.toml"
    text = path.read_text()
    assert old in text, f"{old!r} is not in the settings"
    path.write_text(text.replace(old, new))
