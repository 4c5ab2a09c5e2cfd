"""All ways to write a made-up spec, and one of them by its name and a seed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random

from agent_fox.specs.reader import read_specs
from tests.specs.made import agent_fox, agent_fox_json, agent_fox_json_2, kiro, openspec, plain, spec_kit
from tests.specs.made.spelling import Spelling, spelling_of
from tests.specs.made.telling import Made, places_told, told
from tests.specs.made.truth import Truth, truth_of

FORMS: Mapping[str, Callable[[Truth, Spelling], Made]] = {
    "agent-fox": agent_fox.made,
    "agent-fox-json": agent_fox_json.made,
    "agent-fox-json-2": agent_fox_json_2.made,
    "kiro": kiro.made,
    "spec-kit": spec_kit.made,
    "openspec-change": openspec.made_change,
    "openspec-capability": openspec.made_capability,
    "plain-markdown": plain.made_markdown,
    "plain-toml": plain.made_toml,
}


def made_by(form: str, seed: int) -> Made:
    """The same files for the same form and seed, on every machine."""
    rng = Random(f"{form} {seed}")
    return FORMS[form](truth_of(rng), spelling_of(rng))


def write(made: Made, root: Path) -> Path:
    """Write the files below a root; the place that the spec lies in."""
    for name, content in made.files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return root / made.folder


def differences(made: Made, root: Path) -> list[str]:
    """What is read from the files otherwise than it was meant: lines with `-` are missing, those with `+` too many."""
    folder = write(made, root)
    specs, problems = read_specs(folder.parent, root)
    expected = told(made.spec, made)
    if len(specs) != 1:
        return [f"{len(specs)} specs were read", *(f"{p.where}: {p.what}" for p in problems)]
    found = told(specs[0], made)
    lines = [f"- {line}" for line in expected if line not in found] + [
        f"+ {line}" for line in found if line not in expected
    ]
    if not lines and expected != found:
        lines = ["the order differs", *found]
    said = [f"! {p.where}: {p.what}" for p in problems if p.severity == "error"]
    return lines + places_told(specs[0], made) + said
