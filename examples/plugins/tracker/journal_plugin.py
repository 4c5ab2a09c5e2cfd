"""The tracker `journal`: one line of JSON for each effect, in one file. An issue is a fingerprint with a number."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from agent_fox.plugins import hookimpl
from agent_fox.trackers.protocol import Delivery, Done, Effect, Held, Tracker


@dataclass(frozen=True, slots=True)
class Journal:
    path: Path
    name: str = "journal"

    def rows(self) -> list[dict[str, str]]:
        return [json.loads(line) for line in self.path.read_text().splitlines()] if self.path.exists() else []

    def newest(self) -> str:
        return str(max((int(row["number"]) for row in self.rows()), default="")) if self.path.exists() else ""

    def deliver(self, effect: Effect) -> Delivery:
        rows = self.rows()
        known = {row["fingerprint"]: row["number"] for row in rows}
        number = known.get(effect.fingerprint, str(len(known) + 1))
        row = {"id": effect.id, "fingerprint": effect.fingerprint, "number": number, "kind": effect.kind.value}
        if effect.id not in {row["id"] for row in rows}:
            try:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                with self.path.open("a", encoding="utf-8") as journal:
                    journal.write(json.dumps({**row, "title": effect.title}) + "\n")
            except OSError as error:
                return Held(str(error), f"make {self.path} a file that can be written")
        return Done(number, f"{self.path.as_uri()}#{number}")


@hookimpl
def agent_fox_trackers() -> Mapping[str, Callable[[Path], Tracker]]:
    return {"journal": lambda root: Journal(root / ".agent-fox" / "journal.jsonl")}
