"""What the transcript of a chat says about review tasks: ids that were given out, ids that are named. No judging.

Read for the stop hook, so: standard library only, a line at a time, and only lines that matter are parsed. Two formats
are known, the JSON lines of Claude Code and of codex; of any other, the ids that it names are still found.

A program may write its transcript later than it asks its hook (Claude Code does): a call without its answer, or a last
message that is not there yet, says that more is to come. `read_on` continues where it stopped.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from io import BufferedReader

ID = re.compile(rb"afx-[0-9a-f]{12}(?![0-9a-f])")
TOOLS = frozenset({"todoWrite", "todo_write"})
"""The tool that gives out ids, by both of its names."""

MARKS = (b"afx-", b"todoWrite", b"todo_write")
"""What a line has that is parsed."""

LONGEST_LINE = 32 * 1024 * 1024
"""Bytes. A longer line is not parsed; ids that it names are found."""

OVERLAP = 16
WITNESS = re.compile(r"[\w ]+")
LONGEST_WITNESS = 80


class TranscriptTrouble(Exception):
    """The transcript cannot be read. Its text says where, and what to do; it never repeats what stands there."""


class Transcript:
    """What was read so far.

    `given`: ids that the tool answered with, in order; `named`: every id that occurs. `waiting`: calls of it whose
    answer is still to come. `is_current`: whether the chat's last message has been read.
    """

    __slots__ = ("_calls", "_offset", "_witness", "given", "is_current", "line", "named", "path", "waiting")

    def __init__(self, path: str, last_message: str = "") -> None:
        self.path, self.line, self._offset = path, 0, 0
        self.given: dict[str, None] = {}
        self.named: dict[str, None] = {}
        self.waiting: dict[str, str] = {}
        self._calls: set[str] = set()
        self._witness = witness_of(last_message)
        self.is_current = not self._witness

    def read_on(self) -> None:
        """Read what was added. Raises OSError, and TranscriptTrouble for a line that is none of a transcript."""
        with open(self.path, "rb") as file:
            file.seek(self._offset)
            while line := file.readline(LONGEST_LINE):
                if line.endswith(b"\n"):
                    self._whole(line)
                elif len(line) < LONGEST_LINE:
                    return self._unfinished(line)
                else:
                    self._endless(file, line)
                self._offset = file.tell()

    def _whole(self, line: bytes) -> None:
        self.line += 1
        text = line.strip()
        if text and not self._hear(text):
            raise TranscriptTrouble(
                f"{self.path}: line {self.line} is no JSON, so what this chat registered cannot be known; "
                "a person must look at that line: repair or remove it, or go on in a new chat"
            )

    def _unfinished(self, line: bytes) -> None:
        """The last line, which may still be being written: as text, where it is not whole yet."""
        if not self._hear(line.strip()):
            self._name(line)

    def _endless(self, file: BufferedReader, piece: bytes) -> None:
        """A line that is too long to be parsed: the ids that it names, piece by piece."""
        self.line += 1
        while piece:
            self._name(piece)
            if piece.endswith(b"\n"):
                return
            more = file.readline(LONGEST_LINE)
            piece = piece[-OVERLAP:] + more if more else b""

    def _hear(self, text: bytes) -> bool:
        """Take in one line; False where it is no JSON object."""
        if not self.is_current and self._witness in text and b'"assistant"' in text:
            self.is_current = True
        if not self.waiting and not any(mark in text for mark in MARKS):
            return text.startswith(b"{") and text.endswith(b"}")
        try:
            record = json.loads(text)
        except (ValueError, RecursionError):
            return False
        if not isinstance(record, dict):
            return False
        self._name(text)
        self._follow(record)
        return True

    def _name(self, text: bytes) -> None:
        self.named.update(dict.fromkeys(ids_in(text)))

    def _follow(self, record: dict[str, object]) -> None:
        speaker = speaker_of(record)
        if speaker and self.waiting:  # the talk went on: an older call that was not answered never will be
            self.waiting = {call: by for call, by in self.waiting.items() if by == speaker}
        for call in set(calls_in(record)) - self._calls:
            self._calls.add(call)
            self.waiting[call] = speaker
        for answered, answer in answers_in(record):
            self.waiting.pop(answered or "", None)
            if answered is None or answered in self._calls:
                self.given.update(dict.fromkeys(ids_in(json.dumps(answer).encode())))


def witness_of(message: str) -> bytes:
    """A part of a message that stands in its JSON form as it is: its longest run of letters."""
    return max(WITNESS.findall(message), key=len, default="").strip()[:LONGEST_WITNESS].encode("utf-8", "replace")


def ids_in(text: bytes) -> Iterator[str]:
    return (match.decode("ascii") for match in ID.findall(text))


def is_ours(name: object) -> bool:
    """Whether a tool's name is that of ours, with or without the prefix of its server."""
    return isinstance(name, str) and name.rpartition("__")[2] in TOOLS


def speaker_of(record: dict[str, object]) -> str:
    """The id of the message of the model's that a line belongs to; empty for any other line."""
    message, payload = table(record.get("message")), table(record.get("payload"))
    if record.get("type") == "assistant":
        return str(message.get("id", ""))
    is_said = payload.get("type") == "message" and payload.get("role") == "assistant"
    return str(payload.get("id") or "a message") if is_said else ""


def calls_in(record: dict[str, object]) -> Iterator[str]:
    """Ids of the calls of our tool in one line."""
    payload = table(record.get("payload"))
    for block in blocks(table(record.get("message")).get("content")):
        if block.get("type") == "tool_use" and is_ours(block.get("name")):
            yield str(block.get("id"))
    if payload.get("type") == "function_call" and is_ours(payload.get("name")):
        yield str(payload.get("call_id"))


def answers_in(record: dict[str, object]) -> Iterator[tuple[str | None, object]]:
    """Answers in one line with the ids of their calls; None for an answer that says itself that it is our tool's."""
    for block in blocks(table(record.get("message")).get("content")):
        if block.get("type") == "tool_result":
            yield str(block.get("tool_use_id")), block.get("content")
    payload = table(record.get("payload"))
    if payload.get("type") == "function_call_output":
        yield str(payload.get("call_id")), payload.get("output")
    for answer in (table(payload.get("item")), table(payload.get("invocation"))):
        if is_ours(answer.get("tool")):
            yield None, answer.get("result", payload.get("result"))


def table(value: object) -> dict[str, object]:
    return value if isinstance(value, dict) else {}


def blocks(value: object) -> list[dict[str, object]]:
    return [block for block in value if isinstance(block, dict)] if isinstance(value, list) else []
