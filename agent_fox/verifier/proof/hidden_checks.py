"""Checks that no coder sees, laid over a copy of the tree that is read, and run there on their own.

What they show, and how much of it is reported, is in `core.hidden`. Nothing of them is kept: no log, no artifact.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.core.verdicts.hidden import COMMAND, HiddenChecks, Reveal, with_hidden
from agent_fox.core.verdicts.verdict import Verdict, Word
from agent_fox.system.files import remove_tree
from agent_fox.verifier.ground.order import CheckOrder, Untested
from agent_fox.verifier.ground.sources import read_source
from agent_fox.verifier.judging.hidden_files import digest_of, hidden_files, unread
from agent_fox.verifier.judging.verdicts import Bench, Finding
from agent_fox.verifier.proof.sides import copied, is_test_side
from agent_fox.verifier.suites.mapping import Ownership

if TYPE_CHECKING:
    from agent_fox.verifier.judging.checks import CheckReport

MISSING = "the folder of hidden checks is not there, or nothing in it can be read"


def judged(
    order: CheckOrder, private: Path, bench: Bench, findings: Sequence[Finding],
    run: Callable[[CheckOrder], CheckReport],
) -> tuple[Finding, ...]:  # fmt: skip
    """The findings, with what hidden checks say of their requirements. `run` judges an order."""
    folder, reveal = Path(order.hidden), order.reveal
    files = hidden_files(folder)
    if not files:
        return tuple(_without(each, MISSING) for each in findings)
    claimed = {id: names for id in order.expected if (names := claiming(order, folder, files, id))}
    verdicts = {each.verdict.requirement_id: each.verdict for each in _read(order, private, files, claimed, run)}
    checks = {id: HiddenChecks(verdict, order.expected[id], digest_of(folder)) for id, verdict in verdicts.items()}
    joined = tuple(_joined(each, checks.get(each.verdict.requirement_id), reveal, bench) for each in findings)
    why = _why_unread(folder)
    return tuple(_without(each, why) if why and each.verdict.requirement_id not in claimed else each for each in joined)


def _why_unread(folder: Path) -> str:
    """That tests lie in the folder that are not read, so that they may be about any requirement; empty where none do.

    Their names are a secret of the folder's owner: `hidden list` tells them.
    """
    reasons = sorted(why for name, why in unread(folder).items() if is_test_side(name))
    kinds = ", ".join(dict.fromkeys(reasons))
    return (
        f"{len(reasons)} hidden checks could not be read ({kinds}): `agent-fox hidden list` names them"
        if reasons
        else ""
    )


def claiming(order: CheckOrder, folder: Path, files: Sequence[str], id: str) -> tuple[str, ...]:
    """The files of hidden checks that say that they are about a requirement."""
    ownership = Ownership(order)
    sources = (read_source(folder, name) for name in files)
    return tuple(
        source.path for source in sources if source is not None and ownership.is_about(id, source.path, source.text)
    )


def _read(
    order: CheckOrder, private: Path, files: Sequence[str], claimed: Mapping[str, object],
    run: Callable[[CheckOrder], CheckReport],
) -> Iterator[Finding]:  # fmt: skip
    """What the hidden checks say, run in a copy of the tree over which they are laid; only their own tests count."""
    tree = private / "hidden" / "tree"
    lent = laid_over(Path(order.workspace), Path(order.hidden), files, tree)
    own = replace(
        by_their_own_words(order), workspace=str(tree), hidden="", only=tuple(files), untested=Untested.UNKNOWN,
        artifacts="", live="", base="", base_commit="", flaky_file="", proofs_folder="",
        readable=(*order.readable, *map(str, lent)),
        expected={id: text for id, text in order.expected.items() if id in claimed},
    )  # fmt: skip
    try:
        yield from run(own).findings if claimed else ()
    finally:
        remove_tree(tree, ignore_errors=True)


def by_their_own_words(order: CheckOrder) -> CheckOrder:
    """The order without the tests that its traceability table names: hidden checks say what they are about."""
    return replace(order, traceability=tuple(replace(trace, tests=()) for trace in order.traceability))


def laid_over(workspace: Path, folder: Path, files: Sequence[str], tree: Path) -> tuple[Path, ...]:
    """A copy of the workspace with the hidden checks in it; where what it is lent lies."""
    lent = copied(workspace, tree)
    if (workspace / ".git").is_dir():
        shutil.copytree(workspace / ".git", tree / ".git", symlinks=True)
    for name in files:
        place = tree / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.unlink(missing_ok=True)
        shutil.copyfile(folder / name, place)
    return lent


def _joined(finding: Finding, found: HiddenChecks | None, reveal: Reveal, bench: Bench) -> Finding:
    if found is None:
        return finding
    is_untested = bench.is_untested(finding.verdict.requirement_id)
    verdict = with_hidden(finding.verdict, found, reveal, is_untested=is_untested)
    is_hidden = verdict.command == COMMAND
    if is_hidden:
        return Finding(verdict, COMMAND)
    return replace(finding, verdict=verdict)


def _without(finding: Finding, why: str) -> Finding:
    """Hidden checks were asked for, and those about it are not there: what passes is not known to pass them."""
    verdict = finding.verdict
    if verdict.word is not Word.PASS:
        return finding
    unknown = Verdict(verdict.requirement_id, Word.UNKNOWN, said="UNKNOWN", evidence=f"{why}\n{verdict.evidence}")
    return replace(finding, verdict=unknown)
