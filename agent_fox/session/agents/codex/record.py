"""Arguments and answers of codex's tool calls, from the record that it keeps of its session.

Calls that its sandbox stopped or that it refused are in no event of its output; in the record they are, as they come.
"""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import BaseModel, ConfigDict, JsonValue, ValidationError

from agent_fox.core.json_text import json_object
from agent_fox.core.regex import regex
from agent_fox.session.agents.private_files import Growing

LARGEST_PART = 8 * 1024 * 1024
"""Bytes that are read at once; a record that grows faster is read with gaps."""

PATIENCE, PAUSE = 10, 0.02
"""How often, and every how many seconds, it is looked for a call that codex has told of but not yet written."""

_NAME = regex(r"[0-9a-f-]{36}")
_SCRIPTS: Mapping[str, str] = {"exec": "script", "apply_patch": "patch"}


class _Payload(BaseModel, defer_build=True):
    model_config = ConfigDict(extra="ignore")
    call_id: str
    name: str = ""
    arguments: str | None = None
    input: str | None = None
    output: JsonValue = None


class _Line(BaseModel, defer_build=True):
    model_config = ConfigDict(extra="ignore")
    payload: _Payload


@dataclass(slots=True)
class Record:
    """`folder` is where codex keeps sessions."""

    folder: Path
    _path: Path | None = None
    _file: Growing = field(default_factory=lambda: Growing(LARGEST_PART))
    _given: dict[str, Mapping[str, object]] = field(default_factory=dict)
    _answers: dict[str, str] = field(default_factory=dict)

    def arguments(self, session: str, call: str) -> Mapping[str, object]:
        """Arguments of a call, empty where they cannot be found soon."""
        self._wait_for(call, self._given, session)
        return self._given.pop(call, {})

    def answer(self, session: str, call: str) -> str:
        """What the model was shown as a call's answer, empty where it cannot be found soon."""
        self._wait_for(call, self._answers, session)
        return self._answers.pop(call, "")

    def _wait_for(self, call: str, table: Mapping[str, object], session: str) -> None:
        for _ in range(PATIENCE):
            if self._path is None and _NAME.fullmatch(session):
                self._path = next(iter(sorted(self.folder.glob(f"*/*/*/rollout-*-{session}.jsonl"))), None)
            path = self._path
            if call in table or path is None or not path.resolve().is_relative_to(self.folder.resolve()):
                return
            before = self._file.read
            for line in self._file.lines(path):
                self._take(line)
            if self._file.read == before:
                time.sleep(PAUSE)

    def _take(self, line: bytes) -> None:
        with contextlib.suppress(ValidationError):
            payload = _Line.model_validate_json(line).payload
            if payload.input is not None:
                self._given[payload.call_id] = {_SCRIPTS.get(payload.name, "input"): payload.input}
            elif payload.arguments is not None:
                given = json_object(payload.arguments)
                self._given[payload.call_id] = {"arguments": payload.arguments} if given is None else given
            elif payload.output is not None:
                self._answers[payload.call_id] = _text(payload.output)


def _text(output: JsonValue) -> str:
    """An answer is text, or parts of which some are text."""
    if isinstance(output, list):
        parts = (part.get("text") for part in output if isinstance(part, dict))
        return "".join(part for part in parts if isinstance(part, str))
    return output if isinstance(output, str) else json.dumps(output)
