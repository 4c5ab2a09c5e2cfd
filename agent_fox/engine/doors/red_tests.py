"""What the tests of each spec do before any work: run on HEAD's tree, in a throw-away checkout. Judges nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.core.ids import Archetype
from agent_fox.core.values import dataclass
from agent_fox.engine.launching.launching import as_set
from agent_fox.engine.record.shared_ids import KnownIds, order_among
from agent_fox.session.built_in.registry import CHECKS
from agent_fox.system import git
from agent_fox.verifier.proof.red import read_red
from agent_fox.verifier.source.base_tree import base_tree

if TYPE_CHECKING:
    from agent_fox.config import Settings
    from agent_fox.core.graph import Plan
    from agent_fox.core.spec import Spec
    from agent_fox.core.verdicts.red import RedWord

SETUP = "[workspace] setup was not run; what git does not hold was lent from your checkout"


@dataclass(frozen=True, slots=True)
class RedSpec:
    """One spec that is planned. `judges`: who will verify it; `told` is empty where the judge of tests is not among
    them. `note`: what was left out of the runs."""

    name: str
    judges: tuple[str, ...]
    told: tuple[RedWord, ...] = ()
    note: str = ""

    @property
    def is_asked(self) -> bool:
        return CHECKS in self.judges

    @property
    def can_all_fail(self) -> bool:
        """Whether each requirement has a test that was seen to fail."""
        return all(row.now.can_fail for row in self.told)


def red_specs(
    root: Path, plan: Plan, settings: Settings, is_in_scope: Callable[[Spec], bool] = lambda spec: True
) -> Iterator[RedSpec]:
    """Each spec with a verifier, in the order of the plan. Raises GitError where there is no commit."""
    head = git.commit_of(root, "HEAD")
    if head is None:
        raise git.GitError(f"{root}: there is no commit yet; commit the specs and the tests first")
    verified = {node.spec_name for node in plan.nodes if node.archetype is Archetype.VERIFIER}
    yield from (
        _red(root, head, plan, spec, settings) for spec in plan.specs if spec.name in verified and is_in_scope(spec)
    )


def _red(root: Path, head: str, plan: Plan, spec: Spec, settings: Settings) -> RedSpec:
    judges = tuple(settings.agent_for(Archetype.VERIFIER, spec.name, 0).backends)
    if CHECKS not in judges:
        return RedSpec(spec.name, judges)
    known = KnownIds({each.name: frozenset(each.expected) for each in plan.specs})
    wanted = settings.workspace
    with base_tree(root, head, root, (*wanted.copies, *wanted.link)) as tree:
        order = replace(as_set(order_among(spec, known), settings.verify), workspace=str(tree.folder))
        rows = read_red(order, tree.lent)
    return RedSpec(spec.name, judges, rows, SETUP if wanted.setup else "")
