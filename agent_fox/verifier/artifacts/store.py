"""Full logs and reports beside a result: masked while they are written, stored by content, listed by attempt.

Content lies in `content/`, indexes in `runs/`; what is not finished lies in `unfinished/` and is seen by nobody. How
long things are kept is decided in `artifact_retention`. No local path leaves this module but by `path_of`.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import BinaryIO

from agent_fox.system.files import NotRegular, open_regular
from agent_fox.system.redaction.masking import BytesRedactor
from agent_fox.verifier.artifacts.index import (
    UNFINISHED,
    Address,
    ArtifactError,
    Index,
    address_of,
    content_file,
    free_name,
    locked,
    read_index,
    safe_name,
    write_index,
)
from agent_fox.verifier.artifacts.scan import Nature, holds_any, looks_leaky, nature_of
from agent_fox.verifier.ground.results import Artifact, ArtifactKind

MOST_BYTES = 1024**3
"""What one attempt may keep in all, unless its store says otherwise."""

_PIECE = 1 << 18


@dataclass
class LogWriter:
    """Takes a log in pieces of any size, and masks it before anything reaches the disk. `artifact` is set at the end.

    At most one line is held back, and of a line without an end 256 KB.
    """

    _part: _Part
    _redactor: BytesRedactor
    _artifact: Artifact | None = None

    def write(self, piece: bytes) -> int:
        self._part.write(self._redactor.feed(piece))
        return len(piece)

    @property
    def artifact(self) -> Artifact:
        if self._artifact is None:
            raise ArtifactError("the log is still being written")
        return self._artifact


@dataclass
class _Part:
    """Content on its way into the store, up to `room` bytes; of the rest only the length is kept."""

    file: BinaryIO
    path: Path
    room: int
    digest: hashlib._Hash = field(default_factory=hashlib.sha256)
    length: int = 0
    left_out: int = 0

    def write(self, piece: bytes) -> None:
        kept = piece[: max(0, self.room - self.length)]
        self.put(kept)
        self.left_out += len(piece) - len(kept)

    def mark_what_is_left_out(self) -> None:
        if self.left_out:
            self.put(_marker(f"the other {self.left_out} bytes are over what one attempt may keep"))

    def put(self, piece: bytes) -> None:
        self.file.write(piece)
        self.digest.update(piece)
        self.length += len(piece)


@dataclass(frozen=True)
class ArtifactStore:
    """The artifacts of one attempt of a run; `open` and `path_of` find those of others in the same folder too.

    `secrets` are exact values that are masked in whatever is kept. Several processes may use one folder. A process
    that dies leaves nothing half-written to be seen; after a loss of power the last ones may be missing.
    """

    folder: Path
    run: str
    attempt: int
    secrets: tuple[str, ...] = ()
    most_bytes: int = MOST_BYTES

    @contextmanager
    def log(self, name: str) -> Iterator[LogWriter]:
        """Keeps what is written, also where the block ends by an exception."""
        with self._part() as part:
            writer = LogWriter(part, BytesRedactor(self.secrets))
            try:
                yield writer
            finally:
                part.write(writer._redactor.close())
                writer._artifact = self._kept(part, ArtifactKind.LOG, name)

    def keep_text(self, text: str, kind: ArtifactKind, name: str) -> Artifact:
        with self._part() as part:
            redactor = BytesRedactor(self.secrets)
            part.write(redactor.feed(text.encode("utf-8", "backslashreplace")) + redactor.close())
            return self._kept(part, kind, name)

    def keep_file(self, path: Path, kind: ArtifactKind, name: str) -> Artifact:
        """A masked copy of a regular file. Reports in XML and JSON stay readable to programs.

        In place of a link, a pipe, an archive (nobody can look into it), a binary file that holds a secret, and of
        what is over the limit, a line is kept that says why.
        """
        try:
            with open_regular(path) as file:
                return self._copied(file, nature_of(path.name, file.read(_PIECE)), kind, name)
        except NotRegular as error:
            return self._noted(str(error.strerror), kind, name)
        except _NotKept as reason:
            return self._noted(str(reason), kind, name)
        except OSError as error:
            return self._noted(f"it could not be read: {os.strerror(error.errno or 0)}", kind, name)

    def listed(self) -> tuple[Artifact, ...]:
        """What this attempt has kept so far."""
        return self._index().artifacts

    def open(self, uri: str) -> BinaryIO:
        """The content, masked as it is. Raises ArtifactError."""
        return self.path_of(uri).open("rb")

    def end_of(self, uri: str, limit: int) -> str:
        """The last `limit` bytes of the content, as text. Raises ArtifactError."""
        with self.open(uri) as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - limit))
            return file.read().decode("utf-8", "replace")

    def path_of(self, uri: str) -> Path:
        """Where the content lies: for our own parsers, never to be shown. Raises ArtifactError."""
        address = address_of(uri)
        for artifact in read_index(self.folder, address.run, address.attempt).artifacts:
            if artifact.name == address.name:
                return self._existing(artifact)
        raise ArtifactError(f"there is no {address}")

    def _existing(self, artifact: Artifact) -> Path:
        path = content_file(self.folder, artifact.sha256)
        if not path.is_file():
            raise ArtifactError(f"{artifact.uri} is listed, but its content is gone")
        return path

    def _index(self) -> Index:
        return read_index(self.folder, safe_name(self.run), self.attempt)

    def _copied(self, file: BinaryIO, nature: Nature, kind: ArtifactKind, name: str) -> Artifact:
        if nature is Nature.ARCHIVE:
            raise _NotKept("an archive can't be looked into for secrets")
        if os.fstat(file.fileno()).st_size > self._room():
            raise _NotKept("it is over what one attempt may keep")
        file.seek(0)
        if nature is Nature.BINARY and holds_any(file, self.secrets):
            return replace(self._noted("a binary file with a secret in it", kind, name), is_secret_suspected=True)
        file.seek(0)
        with self._part() as part:
            redactor = None if nature is Nature.BINARY else BytesRedactor(self.secrets)
            while piece := file.read(_PIECE):
                part.write(redactor.feed(piece) if redactor else piece)
            part.write(redactor.close() if redactor else b"")
            return self._kept(part, kind, name)

    def _noted(self, why: str, kind: ArtifactKind, name: str) -> Artifact:
        with self._part() as part:
            part.put(_marker(why))
            return self._kept(part, kind, name)

    def _room(self) -> int:
        return max(0, self.most_bytes - self._index().bytes)

    @contextmanager
    def _part(self) -> Iterator[_Part]:
        """A new unfinished content, which is gone afterwards unless it was kept."""
        unfinished = self.folder / UNFINISHED
        unfinished.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor, name = tempfile.mkstemp(dir=unfinished)
        try:
            with os.fdopen(descriptor, "wb") as file:
                yield _Part(file, Path(name), self._room())
        finally:
            Path(name).unlink(missing_ok=True)

    def _kept(self, part: _Part, kind: ArtifactKind, name: str) -> Artifact:
        """Put finished content in its place and list it. First the content, then the index."""
        part.mark_what_is_left_out()
        part.file.flush()
        with part.path.open("rb") as stored:
            is_leaky = looks_leaky(stored)
        with locked(self.folder):
            index = self._index()
            address = Address(index.run, self.attempt, free_name(safe_name(name), index))
            digest = part.digest.hexdigest()
            artifact = Artifact(kind, address.name, str(address), part.length, digest, is_leaky)
            place = content_file(self.folder, digest)
            place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            part.path.replace(place)
            write_index(self.folder, replace(index, artifacts=(*index.artifacts, artifact)))
        return artifact


class _NotKept(Exception):
    """Why a file is not kept."""


def _marker(why: str) -> bytes:
    return f"\n[agent-fox: not kept: {why}]\n".encode()
