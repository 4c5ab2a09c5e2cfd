"""The judge `library`: runs the lanes of what is adopted for a spec, and says what that means for its requirements.

As a process: `python -m agent_fox.verifier.judging.library_checks ORDER.json` prints the answer, one JSON document, on
standard output and exits 0; it exits 1 where the order can't be read.
"""

from __future__ import annotations

import json
import signal
import sys
from pathlib import Path
from types import FrameType

from pydantic import ValidationError

from agent_fox.core.verdicts.verdict import Word
from agent_fox.verifier.lanes.binding import Binding, verdicts
from agent_fox.verifier.lanes.order import ORDER, RESULTS, LibraryOrder
from agent_fox.verifier.lanes.order import lanes_in as lanes_in
from agent_fox.verifier.lanes.results import LaneContext
from agent_fox.verifier.lanes.running import run_lanes


def answer(order: LibraryOrder) -> dict[str, object]:
    """The answer of a verifier, and the result of each lane."""
    results = run_lanes(order.objects, LaneContext(order.order, order.traces))
    rows = verdicts(order.order.expected, order.spec_name, order.objects, results)
    words = [each.word for each in rows]
    overall = Word.FAIL if Word.FAIL in words else Word.PASS if set(words) == {Word.PASS} else Word.UNKNOWN
    counts = ", ".join(f"{sum(each.status is word for each in results)} {word}" for word in Word)
    return {
        "verdicts": [row(each) for each in rows],
        "overall_verdict": overall.value,
        "summary": f"specification library: {counts}",
        "lanes": RESULTS.dump_python(results, mode="json"),
    }


def row(judged: Binding) -> dict[str, object]:
    return {
        "requirement_id": judged.part,
        "verdict": judged.word.value,
        "evidence": judged.evidence,
        "command": judged.command,
        "first_error": judged.evidence.partition("\n")[0] if judged.word is Word.FAIL else "",
    }


def main(arguments: list[str]) -> int:
    """Run the order in the file named by the only argument; print the answer."""
    signal.signal(signal.SIGTERM, _end)
    try:
        (path,) = arguments
        order = ORDER.validate_json(Path(path).read_bytes())
    except (OSError, ValueError, ValidationError) as error:
        sys.stderr.write(f"library: the order cannot be read: {error}\n")
        return 1
    json.dump(answer(order), sys.stdout, indent=2, ensure_ascii=False)
    sys.stdout.write("\n")
    return 0


def _end(number: int, frame: FrameType | None) -> None:
    """Asked to end: leave through every `finally`, so that the command's process group ends too."""
    sys.exit(128 + number)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
