"""`agent-fox worker --once`: one session for a run that reached this host over ssh; see `ssh`.

The line is its lease: each word on it renews it, and when it is cut the session ends with all that it started.
"""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING

from agent_fox.cluster.messages import LONGEST_LINE, read_parcel, said_in, written
from agent_fox.cluster.packs import Content, PartMissing, Unusable, held_in, inlined
from agent_fox.cluster.sessions import Leave, Sessions
from agent_fox.session.session_lifecycle import Lease

if TYPE_CHECKING:
    from agent_fox.cluster.messages import Handed
    from agent_fox.cluster.parcels import Parcel


@dataclass
class Host:
    """One launch. `source` and `sink` are the line."""

    sessions: Sessions
    source: IO[bytes]
    sink: IO[bytes]
    leave: Leave | None = None

    def serve(self) -> bool:
        """Hold the session that is handed in; whether what it came to was handed in."""
        self.sessions.sweep()
        self.say({"hello": self.sessions.version})
        answer = self.read()
        handed = self.sessions.other_version(1, str(answer.get("version"))) if answer else None
        if not answer or handed is not None:
            return handed is not None and self.hand_in(handed)
        try:
            parcel = self.with_history(read_parcel(json.dumps(answer["parcel"]).encode()))
            lease = float(str(answer["lease"]))
        except (Unusable, PartMissing, KeyError, ValueError) as error:
            return self.hand_in(self.sessions.refused(1, error))
        self.leave = Leave(Lease(lease))
        threading.Thread(target=self.listen, args=(self.leave,), daemon=True).start()
        handed = self.held(parcel, str(answer["launch"]), self.leave)
        return handed is not None and self.hand_in(handed)

    def held(self, parcel: Parcel, launch: str, leave: Leave) -> Handed | None:
        try:
            return self.sessions.held(parcel, Path(launch).name, 1, held_in, inlined, leave)
        except (Unusable, PartMissing) as error:
            return self.sessions.refused(1, error)

    def with_history(self, parcel: Parcel) -> Parcel:
        """The parcel with the history in it, where this host has not got it yet."""
        base = parcel.base
        if (self.sessions.folder / "histories" / base.sha256).is_dir():
            return parcel
        self.say({"wants": base.sha256})
        whole = Content(base.sha256, base.size, inline=str(self.read().get("base")))
        held_in(whole)
        return replace(parcel, base=whole)

    def listen(self, leave: Leave) -> None:
        """Hear the other side until it is silent for ever."""
        while line := self.source.readline(LONGEST_LINE):
            leave.lease.renew()
            if said_in(line).get("stop"):
                leave.end(is_asked=True)
        leave.end(is_lost=True)

    def read(self) -> Mapping[str, object]:
        """The next word that says something; nothing where the line is cut."""
        while line := self.source.readline(LONGEST_LINE):
            answer = said_in(line)
            if answer:
                return answer
        return {}

    def hand_in(self, handed: Handed) -> bool:
        return self.say({"handed": json.loads(written(handed))})

    def say(self, words: Mapping[str, object]) -> bool:
        try:
            self.sink.write(json.dumps(words).encode() + b"\n")
            self.sink.flush()
        except OSError:
            return False
        return True


def serve(sessions: Sessions) -> bool:
    return Host(sessions, sys.stdin.buffer, sys.stdout.buffer).serve()
