"""Where a Go failure is: the folder of a package, the line of a test's log, the trace of a panic."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise

from agent_fox.verifier.ground.results import Failure, FailureKind
from agent_fox.verifier.logs.frames import first_line, place_in
from agent_fox.verifier.logs.kinds import patterns_in
from agent_fox.verifier.logs.protocol import Place, Workspace, at, place_of

_LIKE = patterns_in(__file__)
_HOSTS_WITH_OWNERS = ("github.com", "gitlab.com", "bitbucket.org", "codeberg.org", "gitee.com")


def module_of(packages: Iterable[str]) -> str:
    """The module that packages belong to, by what is common to their import paths.

    A module named by a host is at least the host and a name (and an owner, where the host has owners).
    """
    common = posixpath.commonpath(packages).split("/")
    usual = 3 if common[0] in _HOSTS_WITH_OWNERS else 2 if "." in common[0] else 1
    has_version = len(common) > usual and re.fullmatch(r"v\d+", common[usual])
    return "/".join(common[: usual + bool(has_version)])


def logged_go(text: str, workspace: Workspace, file: str, name: str) -> Failure:
    """What a test logged as wrong: the first line that sounds like it, else the last; else what it said at all."""
    lines, place, message = text.split("\n"), None, ""
    trace, error = place_in(text, workspace, "testify"), _LIKE["testify_error"].search(text)
    logged = [(match, n) for n, line in enumerate(lines) if (match := _LIKE["log_line"].match(line))]
    if trace and error:
        place, message = trace, error[1].strip()
    elif logged:
        match, n = next(((f, n) for f, n in logged if _LIKE["says_wrong"].search(f[3])), logged[-1])
        place = Place(match[1], int(match[2]))
        message = match[3].strip() or first_line("\n".join(lines[n + 1 :]))
    silent = f"{name} failed" if name else "it failed without a word"
    message = message or " ".join(line.strip() for line in lines[:4]).strip() or silent
    return Failure(FailureKind.TEST_FAILURE, message, **at(place), test_name=name or None, evidence=text)


MOST_PACKAGES = 10_000


@dataclass(slots=True)
class Packages:
    """The packages that a log names, and what it tells of their module's path."""

    names: set[str] = field(default_factory=set)
    _module: str = ""

    def see(self, package: str) -> None:
        if len(self.names) < MOST_PACKAGES:
            self.names.add(package.removesuffix("_test").strip("/"))

    def lies(self, package: str, folder: str) -> None:
        """A line shows that `package` lies in `folder`, relative to the workspace."""
        folder = folder.strip("/")
        if not folder or folder == ".":
            self._module = self._module or package
        elif package.endswith("/" + folder):
            self._module = package[: -len(folder) - 1]

    def folder(self, package: str) -> str:
        """The folder of a package below the workspace; `""` is the workspace itself.

        Without evidence: below the packages' common path where that is a package, else below what hosts usually use.
        """
        module, package = self._module, package.strip("/")
        if not (module and f"{package}/".startswith(f"{module}/")):
            common = posixpath.commonpath([*self.names, package])
            is_package = common in self.names and len(self.names) > 1
            module = common if is_package else module_of({*self.names, package})
        return package[len(module) + 1 :]


def panicking(panic: str) -> str:
    """The test that a timeout names, or the first that a stack trace shows."""
    match = _LIKE["running"].search(panic) or _LIKE["test"].search(panic)
    return match["name"].partition("/")[0] if match else ""


def panicked_go(panic: str, workspace: Workspace, packages: Packages, test: str) -> Failure:
    """What the lines from `panic:` to the end of the package tell."""
    place, lines = None, panic.split("\n")
    for above, line in pairwise(lines):
        match = _LIKE["place"].match(line)
        if match and workspace.holds(match["file"]) and not _LIKE["library"].search(match["file"]):
            place = place_of(match, workspace)
            if function := _LIKE["function"].match(above):
                packages.lies(function["package"] or "", place.file.rpartition("/")[0])
            break
    kind = FailureKind.TIMEOUT if panic.startswith("panic: test timed out after ") else FailureKind.TEST_FAILURE
    message, name = lines[0].removesuffix(" [recovered]"), test or panicking(panic) or None
    return Failure(kind, message, **at(place), test_name=name, evidence=panic, is_error=True)
