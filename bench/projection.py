"""How much of a model's window a result takes, beside the log that it was read from. A token is taken at 4 characters.

The logs are made ones, and those of `../shared/data/logs` where that folder is there.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from pydantic import BaseModel, Field

from agent_fox.verifier.ground.results import Status, VerificationResult
from agent_fox.verifier.logs.protocol import Workspace
from agent_fox.verifier.logs.reading import Run, read_run
from agent_fox.verifier.logs.registry import BUILT_IN
from agent_fox.verifier.logs.status import Ending
from agent_fox.verifier.reporting.projection import as_document, as_xml
from agent_fox.verifier.running.summing_up import Hidden, of_log
from bench.figures import Aim, Figure
from bench.made_logs import KINDS, write
from bench.worlds import temporary_folder

AIM = Aim(limit=600)
CHARACTERS = 4  # a token
MADE = ("pytest -v", "maven", "gcc under make", "cargo test", "tsc", "jest")
CORPUS = Path(__file__).resolve().parents[2] / "shared" / "data" / "logs"


class Case(BaseModel):
    """What of a case in the corpus is needed to read its log."""

    tool: str
    root: str = Field(alias="workspaceRoot")
    exit_code: int | None = Field(alias="exitCode")


@dataclass(frozen=True, slots=True)
class Sizes:
    """Tokens of one log, and of its result in both forms."""

    log: float
    xml: float
    json: float


def measure(size: int) -> Iterator[Figure]:
    """Made logs of `size` bytes each, then all failing logs of the corpus together."""
    with temporary_folder() as folder:
        for name in MADE:
            path = folder / "log.txt"
            write(path, KINDS[name], size)
            sizes = sizes_of(path, KINDS[name].tool, "/w", 1)
            yield from told(f"{name}, {size / 1e3:,.0f} KB", sizes)
    real = [sizes_of(path / "log.txt", case.tool, case.root, case.exit_code) for path, case in cases()]
    if real:
        log, xml, json = (statistics.fmean(column) for column in zip(*map(values, real), strict=True))
        yield from told(f"{len(real)} real logs, on average", Sizes(log, xml, json))
        longest = max(real, key=lambda sizes: sizes.xml)
        yield from told(f"the longest result of {len(real)} real logs", longest)


def told(name: str, sizes: Sizes) -> Iterator[Figure]:
    yield Figure(f"result shown of {name}", sizes.xml, sizes.log, "the raw log", AIM, unit="tokens")
    yield Figure(f"the same as JSON, {name}", sizes.json, sizes.log, "the raw log", unit="tokens")


def cases() -> Iterator[tuple[Path, Case]]:
    """The corpus' runs that failed."""
    for file in sorted(CORPUS.glob("*/*/expected.json")):
        case = Case.model_validate_json(file.read_bytes())
        if case.exit_code:
            yield file.parent, case


def sizes_of(log: Path, tool: str, root: str, exit_code: int | None) -> Sizes:
    outcome = read_run(Run(Ending(tool, exit_code), log), Workspace(PurePosixPath(root)), BUILT_IN)
    result = of_log(outcome, "artifact://bench/1/001-run_unit_tests.log", "bench", Hidden((Path(root),)))
    refuse_nothing_found(log, result)
    texts = log.read_text("utf-8", "replace"), as_xml(result), as_document(result).model_dump_json()
    return Sizes(*(len(text) / CHARACTERS for text in texts))


def refuse_nothing_found(log: Path, result: VerificationResult) -> None:
    """A short result of a log in which nothing was found is no figure. Raises ValueError."""
    if result.status is Status.PASSED or not result.failures:
        raise ValueError(f"{log}: nothing was found in it")


def values(sizes: Sizes) -> tuple[float, float, float]:
    return sizes.log, sizes.xml, sizes.json
