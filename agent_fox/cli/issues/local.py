"""Issues that are files here: one that a person wrote, or that lost its front matter, becomes the one of a cause."""

from __future__ import annotations

from pathlib import Path

from agent_fox.cli.issues.export import write_whole
from agent_fox.core.regex import regex
from agent_fox.core.values import dataclass
from agent_fox.system import clock
from agent_fox.trackers.issue_file import IssueFile, parse_issue_file
from agent_fox.trackers.local import read_whole
from agent_fox.trackers.protocol import Delivery, Done, Held

_NAME = regex(r"^(\d+)-.*\.md$")


@dataclass(frozen=True, slots=True)
class LocalAdopter:
    """The folder of the local tracker; `cause` and `spec` are noted in the file."""

    folder: Path
    cause: str
    spec: str

    def adopt(self, number: int, fingerprint: str) -> Delivery:
        """Done where the file is now that of the fingerprint, Held where it is not there or another cause's."""
        try:
            return self._adopt(number, fingerprint)
        except OSError as error:
            where = error.filename or self.folder
            return Held(
                f"{where}: {error.strerror or error}", f"make {self.folder} a folder that can be read and written"
            )

    def _adopt(self, number: int, fingerprint: str) -> Delivery:
        files = self._files()
        path = files.get(number)
        if path is None:
            there = ", ".join(map(str, sorted(files))) or "none"
            return Held(f"there is no issue {number} in {self.folder}", f"there are: {there}")
        twin = next((other for other in files if other != number and self._print_of(files[other]) == fingerprint), None)
        if twin is not None:
            return Held(f"issue {twin} is the one of this cause already", f"see {files[twin]}")
        text = read_whole(path)
        issue = parse_issue_file(text) or IssueFile((), f"\n{text}")
        other = issue.value("fingerprint")
        if other not in ("", fingerprint):
            return Held(f"issue {number} is that of another cause ({other})", f"see {path}")
        write_whole(path, str(self._marked(issue, fingerprint)), "surrogateescape")
        return Done(str(number), path.resolve().as_uri())

    def _files(self) -> dict[int, Path]:
        """By number; of several with one number the first by name."""
        if not self.folder.is_dir():
            return {}
        paths = sorted((path for path in self.folder.iterdir() if path.is_file()), reverse=True)
        return {int(name[1]): path for path in paths if (name := _NAME.match(path.name))}

    def _print_of(self, path: Path) -> str:
        issue = parse_issue_file(read_whole(path))
        return issue.value("fingerprint") if issue is not None else ""

    def _marked(self, issue: IssueFile, fingerprint: str) -> IssueFile:
        now = {"fingerprint": fingerprint, "updated": clock.now()}
        values = {"state": "open", "cause": self.cause, "spec": self.spec, "opened": clock.now()}
        missing = {key: value for key, value in values.items() if value and not issue.value(key)}
        return issue.with_values({**missing, **now})
