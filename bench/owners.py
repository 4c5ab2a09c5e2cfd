"""How often the owner of a requirement is found, beside ownership read by hand: `python -m bench.owners FOLDER`.

The truth is `fixtures/owners/real.toml`. FOLDER holds the public repositories that it names, as FOLDER/OWNER/NAME, at
the commits that it names; specs of `shared/` are looked for beside this repository. What is not there is counted.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from agent_fox.core.plan.blame import Ground, Ownership, named_owners, ownership
from agent_fox.core.spec import Spec
from agent_fox.specs.reader import read_specs

PACKAGE_PARENT = Path(__file__).resolve().parents[1]
TRUTH = PACKAGE_PARENT / "fixtures" / "owners" / "real.toml"
SHARED = PACKAGE_PARENT.parent


@dataclass(frozen=True)
class Truth:
    """Whose work some requirements of one spec are. `owners`: the groups that are right, the likeliest first."""

    source: str
    path: str
    dialect: str
    owners: Mapping[str, list[int]]
    commit: str = ""
    unsure: list[str] = field(default_factory=list)

    def read(self, folder: Path) -> Spec | None:
        """The spec, None where it is not at hand."""
        root = (SHARED if self.source.startswith("shared/") else folder) / self.source
        if not (root / self.path).exists():
            return None
        specs, _ = read_specs([(root / self.path).parent], root)
        return next((spec for spec in specs if spec.path == self.path), None)


@dataclass
class Score:
    """Of one dialect: how many were looked at, have an owner by hand, got the right one, none, and one for nobody's.

    `parts`, `named` and `owned` count all requirements of the specs: how many tasks name, how many have an owner.
    """

    asked: int = 0
    found: int = 0
    right: int = 0
    silent: int = 0
    nobodys: int = 0
    guessed: int = 0
    guessed_right: int = 0
    parts: int = 0
    named: int = 0
    owned: int = 0

    @property
    def share(self) -> float:
        return self.right / self.found if self.found else 0.0

    def add(self, spec: Spec, truth: Truth) -> None:
        owned = ownership(spec)
        self.parts += len(spec.parts)
        self.named += sum(bool(groups) for groups in named_owners(spec).values())
        self.owned += sum(bool(groups) for groups in owned.owners.values())
        for id, groups in truth.owners.items():
            self._add_one(owned, id, frozenset(groups))

    def _add_one(self, owned: Ownership, id: str, truth: frozenset[int]) -> None:
        said = frozenset(owned.owners[id])
        is_right = bool(said) and said <= truth
        self.asked += 1
        self.found += bool(truth)
        self.right += is_right
        self.silent += bool(truth) and not said
        self.nobodys += bool(said) and not truth
        if owned.grounds[id].ground is Ground.GUESSED:
            self.guessed += 1
            self.guessed_right += is_right


def truths() -> Iterator[Truth]:
    yield from (Truth(**row) for row in tomllib.loads(TRUTH.read_text(encoding="utf-8"))["spec"])


def scores(folder: Path) -> tuple[dict[str, Score], tuple[str, ...]]:
    """The score of each dialect, and the sources that are not at hand."""
    found: dict[str, Score] = {}
    missing: dict[str, None] = {}
    for truth in truths():
        spec = truth.read(folder)
        if spec is None:
            missing[f"{truth.source} {truth.commit}".strip()] = None
        else:
            found.setdefault(truth.dialect, Score()).add(spec, truth)
    return found, tuple(missing)


def main(folder: Path) -> None:
    found, missing = scores(folder)
    for dialect, score in found.items():
        print(
            f"{dialect}: {score.right} of {score.found} right ({score.share:.0%}), {score.silent} without an owner, "
            f"{score.found - score.right - score.silent} wrong; an owner for {score.nobodys} of "
            f"{score.asked - score.found} that are nobody's; {score.guessed_right} of {score.guessed} guesses right; "
            f"named {score.named / score.parts:.0%}, with an owner {score.owned / score.parts:.0%}"
        )
    for source in missing:
        print(f"not at hand: {source}", file=sys.stderr)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
