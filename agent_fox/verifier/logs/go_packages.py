"""Where Go's packages lie: tests name their files without a folder, so the folder comes from the package's path."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass, field

from agent_fox.verifier.logs.go_places import module_of

MOST_PACKAGES = 10_000


@dataclass(slots=True)
class Packages:
    """The packages that a log names, and what it tells of their module's path."""

    names: set[str] = field(default_factory=set)
    _module: str | None = None

    def see(self, package: str) -> None:
        if len(self.names) < MOST_PACKAGES:
            self.names.add(package.removesuffix("_test"))

    def lies(self, package: str, folder: str) -> None:
        """A line shows that `package` lies in `folder`, relative to the workspace."""
        folder = folder.strip("/")
        if not folder or folder == ".":
            self._module = self._module or package
        elif package.endswith("/" + folder):
            self._module = package[: -len(folder) - 1]

    def folder(self, package: str) -> str:
        """The folder of a package below the workspace; `""` is the workspace itself."""
        module = self._module if self._module and _is_below(package, self._module) else self._guess(package)
        return package[len(module) + 1 :]

    def _guess(self, package: str) -> str:
        """Without evidence: the packages' common path where it is a package itself, else what hosts usually use."""
        common = posixpath.commonpath([*self.names, package])
        return common if common in self.names and len(self.names) > 1 else module_of({*self.names, package})


def _is_below(package: str, module: str) -> bool:
    return package == module or package.startswith(module + "/")
