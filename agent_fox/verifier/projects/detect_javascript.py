"""JavaScript projects: which package manager, and a workspace's packages. What they use is in `facts_javascript`."""

from __future__ import annotations

import re

from agent_fox.core.regex import regex
from agent_fox.verifier.logs.streams.records import Record, record, text
from agent_fox.verifier.projects.manifests import Manifests, join, relative, strings
from agent_fox.verifier.projects.systems import BuildSystem, SystemKind

PACKAGE = "package.json"
PNPM_WORKSPACE = "pnpm-workspace.yaml"
_LOCKS = {
    "pnpm-lock.yaml": SystemKind.PNPM,
    PNPM_WORKSPACE: SystemKind.PNPM,
    "yarn.lock": SystemKind.YARN,
    ".yarnrc.yml": SystemKind.YARN,
    "package-lock.json": SystemKind.NPM,
}
_OF_NODE = frozenset(
    {"scripts", "dependencies", "devDependencies", "workspaces", "packageManager", "main", "module", "exports", "bin"}
)
_SCRIPT = regex(r"\.[cm]?[jt]sx?$")
_ITEM = regex(r"""^\s*-\s*["']?([^"'#\n]+?)["']?\s*(?:#.*)?$""")
_FLOW = regex(r"""["']?([^"',\[\]\s]+)["']?""")


def javascript(manifests: Manifests, folder: str) -> BuildSystem | None:
    if not manifests.is_file(join(folder, PACKAGE)):
        return None
    package = manifests.json(join(folder, PACKAGE)) or {}
    if _is_listing(manifests, folder, package):
        return None
    return BuildSystem(_manager(manifests, folder, package), folder, PACKAGE, _packages(manifests, folder, package))


def _is_listing(manifests: Manifests, folder: str, package: Record) -> bool:
    """Whether a package.json is there for the files of another language, as package managers of C want it."""
    names = manifests.names(folder)
    is_of_node = not _OF_NODE.isdisjoint(package) or not _LOCKS.keys().isdisjoint(names)
    return bool(strings(package, "src")) and not is_of_node and not any(_SCRIPT.search(name) for name in names)


def _manager(manifests: Manifests, folder: str, package: Record) -> SystemKind:
    """As package.json says, else by the lock file; npm where nothing tells."""
    named = re.match(r"(npm|pnpm|yarn)@", text(package.get("packageManager")))
    if named:
        return SystemKind(named[1])
    locks = (kind for name, kind in _LOCKS.items() if manifests.is_file(join(folder, name)))
    return next(locks, SystemKind.NPM)


def _packages(manifests: Manifests, folder: str, package: Record) -> tuple[str, ...]:
    """The folders of a workspace's packages, without those that a glob with `!` takes out."""
    globs = [*_package_globs(package), *_pnpm_globs(manifests, folder)]
    folders = {path: None for glob in globs if not glob.startswith("!") for path in manifests.matching(folder, glob)}
    left_out = {path for glob in globs if glob.startswith("!") for path in manifests.matching(folder, glob[1:])}
    packages = (path for path in folders if path not in left_out and path != folder)
    return tuple(relative(path, folder) for path in packages if manifests.is_file(join(path, PACKAGE)))


def _package_globs(package: Record) -> list[str]:
    named = package.get("workspaces")
    return strings(record(named), "packages") or strings(package, "workspaces")


def _pnpm_globs(manifests: Manifests, folder: str) -> list[str]:
    """The list `packages` of pnpm-workspace.yaml, which is all of YAML that is needed here."""
    path = join(folder, PNPM_WORKSPACE)
    lines = (manifests.text(path) or "").splitlines() if manifests.is_file(path) else []
    start = next((at for at, line in enumerate(lines) if line.startswith("packages:")), None)
    if start is None:
        return []
    flow = lines[start].removeprefix("packages:").strip()
    if flow.startswith("["):
        return _FLOW.findall(flow)
    return _items(lines[start + 1 :])


def _items(lines: list[str]) -> list[str]:
    items: list[str] = []
    for line in lines:
        item = _ITEM.match(line)
        if item:
            items.append(item[1].strip())
        elif line.strip() and not line.lstrip().startswith("#"):
            break
    return items
