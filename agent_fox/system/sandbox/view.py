"""What a command in the sandbox sees of the machine, as words for bubblewrap. Nothing is started here."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.core.late import late_module
from agent_fox.core.regex import regex
from agent_fox.core.values import dataclass
from agent_fox.system.sandbox import toolchains

if TYPE_CHECKING:
    from agent_fox.system import files
else:
    files = late_module("agent_fox.system.files")

TEMPORARY_BYTES = 1 << 30
"""How much a command can write to /tmp, and to each other folder in memory."""

ETC = (
    *("alternatives", "ca-certificates", "ca-certificates.conf", "debian_version", "fonts", "gradle", "java", "jvm"),
    *("ld.so.cache", "ld.so.conf", "ld.so.conf.d", "lsb-release", "locale.alias", "localtime", "magic", "maven"),
    *("mime.types", "nsswitch.conf", "os-release", "pki/tls/certs", "pki/ca-trust", "pki/java", "protocols"),
    *("services", "ssl/certs", "ssl/openssl.cnf", "timezone"),
)
"""What of /etc is shown, beside the folders of Java versions: nothing that names people, hosts or keys."""

OF_THE_KERNEL = ("/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus", "/proc/acpi")
"""What in a namespace of its own is the whole machine's still: root without capabilities could write there."""

ETC_WITH_NETWORK = ("resolv.conf", "hosts", "host.conf", "gai.conf")

_SECRET_SETTING = regex(
    r'(?im)^[ \t]*(\[(?:[^]"\n]|"[^"\n]*")*\])?[ \t]*[a-z-]*(?:extraheader|helper|pass|secret|token|cookie|apikey)'
    r"[a-z-]*[ \t]*=(?:[^\n\\]|\\\r?\n|\\.)*\n?"
)
_SECRET_IN_URL = regex(r"://[^/@\s]+@")
_PLACE_OF_SUBMODULE = regex(r"(?im)^[ \t]*(?:path|worktree)[ \t]*=[ \t]*(.+?)[ \t]*$")

LONGEST_SETTINGS = 1 << 20
"""Bytes of a file of git that is looked into."""


OPEN, CLOSED = "open", "closed"


@dataclass(frozen=True, slots=True)
class Container:
    """Which `program` runs which `image`, for the launch `owner`. `network`: agents' programs reach all of it."""

    program: str
    image: str
    network: bool = False
    owner: str = field(default="", compare=False)

    def __str__(self) -> str:
        return f"{self.program} {self.image} {OPEN if self.network else CLOSED}"

    def spelled(self) -> str:
        """As it stands in an order, in one line."""
        return f"{self} {self.owner}".rstrip()


@dataclass(frozen=True, slots=True)
class View:
    """What one command sees. All paths are absolute and resolved.

    root: its workspace; writable: what of it (and beside it) it may change, None for the whole of `root`; what is
    git's there, submodules included, only with `is_git_writable`, our own installation only with `network`. private:
    its own folder, with `home` inside. readable: further folders; what lies deeper is said later and holds.
    own_caches: it is shown none of the machine's caches of packages, and makes its own. kept: files and folders that
    it sees and may not change, wherever they are; emptied: folders in whose place it has one in memory, gone when it
    ends. stand_in: a folder that is shown at the place of `root` instead of what lies there.
    """

    root: Path
    cwd: Path
    private: Path
    home: Path
    writable: tuple[Path, ...] | None = None
    readable: tuple[Path, ...] = ()
    network: bool = False
    own_caches: bool = False
    is_git_writable: bool = False
    kept: tuple[Path, ...] = ()
    emptied: tuple[Path, ...] = ()
    stand_in: Path | None = None


def namespaces(view: View) -> list[str]:
    words = ["--die-with-parent", "--new-session", "--unshare-pid", "--unshare-ipc", "--unshare-uts"]
    words += ["--unshare-cgroup-try", "--hostname", "localhost", "--cap-drop", "ALL"]
    if not view.network:
        words.append("--unshare-net")
    if needs_override(view):
        words += ["--cap-add", "CAP_DAC_OVERRIDE"]
    return words


def needs_override(view: View) -> bool:
    """Whether root without this capability could not write to the files of the workspace's owner."""
    return os.getuid() == 0 and view.root.stat().st_uid != 0


def mounts(view: View) -> list[str]:
    words = [word for folder in toolchains.SYSTEM for word in _system(folder)]
    for path in etc_shown(network=view.network):
        words += ["--ro-bind-try", path, path]
    words += ["--proc", "/proc", *(word for place in OF_THE_KERNEL for word in ("--ro-bind-try", place, place))]
    words += ["--dev", "/dev", "--size", str(TEMPORARY_BYTES), "--tmpfs", "/tmp"]
    words += ["--size", str(TEMPORARY_BYTES), "--perms", "1777", "--tmpfs", "/dev/shm", "--remount-ro", "/dev"]
    for folder, how in sorted(folders_of(view).items()):
        is_empty = how == "--tmpfs"
        source = view.stand_in if view.stand_in and folder == view.root else folder
        words += ["--size", str(TEMPORARY_BYTES), how, str(folder)] if is_empty else [how, str(source), str(folder)]
    for name, place in () if view.own_caches else toolchains.caches(os.environ):
        words += ["--ro-bind", str(place), str(place), "--ro-bind", str(place), str(view.home / name)]
    return words


def etc_shown(*, network: bool) -> tuple[str, ...]:
    """What of /etc a command sees of the machine's own, where it is there."""
    java = (path.name for path in Path("/etc").glob("java-*"))
    return tuple(f"/etc/{name}" for name in (*ETC, *java, *(ETC_WITH_NETWORK if network else ())))


def made_up(view: View) -> Iterator[tuple[str, str]]:
    """(path, text) of files that a command sees instead of the machine's own: one user, one host, no tokens."""
    user, group = os.getuid(), os.getgid()
    name = "root" if user == 0 else "runner"
    yield "/etc/passwd", f"{name}:x:{user}:{group}:{name}:{view.home}:/bin/sh\nnobody:x:65534:65534::/:/bin/false\n"
    yield "/etc/group", f"{name}:x:{group}:\nnogroup:x:65534:\n"
    if not view.network:
        yield "/etc/hosts", "127.0.0.1 localhost\n::1 localhost\n"
    folders = () if view.is_git_writable else (*git_folders(view.root), *git_places(view.root))
    for git in dict.fromkeys(folders):
        for config in (git / "config", git / "config.worktree", *git.glob("worktrees/*/config.worktree")):
            if config.is_file() and not config.is_symlink():
                yield str(config), without_secrets(_settings(config))


def without_secrets(config: str) -> str:
    """A git configuration without the settings and the parts of addresses that may carry a token."""
    return _SECRET_IN_URL.sub(
        "://", _SECRET_SETTING.sub(lambda setting: f"{setting[1]}\n" if setting[1] else "", config)
    )


def _settings(file: Path) -> str:
    return (files.read_regular(file, LONGEST_SETTINGS) or b"").decode("utf-8", "replace")


def git_folders(root: Path) -> tuple[Path, ...]:
    """Git's own folders inside the checkout at `root`: its own, and those that it keeps for submodules."""
    own = root / ".git"
    if own.is_file() and not own.is_symlink():
        own = (root / _settings(own).removeprefix("gitdir:").strip()).resolve()
    if own.is_symlink() or not own.is_dir() or not own.is_relative_to(root):
        return ()
    return (own, *_modules(own / "modules"))


def _modules(folder: Path) -> Iterator[Path]:
    """Git's folders of submodules, and of theirs; the name of one may have slashes in it."""
    for each in sorted(folder.glob("*/")):
        is_whole = (each / "HEAD").is_file()
        yield from [each] if is_whole else []
        yield from _modules(each / "modules" if is_whole else each)


def git_places(root: Path) -> Iterator[Path]:
    """What git reads in the checkout at `root` to learn what it runs: git's folders, what leads to them, and the
    same of submodules; of one that is not checked out, its empty folder, in which a repository could be planted.
    """
    folders, places = git_folders(root), [root]
    yield from folders[:1]
    for where, file in ((root, root / ".gitmodules"), *((folder, folder / "config") for folder in folders[1:])):
        text = _settings(file)
        matches = _PLACE_OF_SUBMODULE.finditer(text) if text else ()
        named = ((where / match[1].strip('"')).resolve() for match in matches)
        places += [place for place in named if root in place.parents]
    for place in dict.fromkeys(places):
        git = place / ".git"
        if git.exists() and not git.is_symlink():
            yield git
        elif place != root and place.is_dir() and not any(place.iterdir()):
            yield place


def _system(folder: Path) -> list[str]:
    if folder.is_symlink():
        return ["--symlink", str(folder.readlink()), str(folder)]
    return ["--ro-bind", str(folder), str(folder)] if folder.is_dir() else []


def folders_of(view: View) -> dict[Path, str]:
    """How each folder is shown; of two that say the same path the later holds."""
    how = dict.fromkeys(view.readable, "--ro-bind")
    how[view.root] = "--bind" if view.writable is None else "--ro-bind"
    how |= dict.fromkeys(view.writable or (), "--bind")
    how |= dict.fromkeys(() if view.is_git_writable else git_places(view.root), "--ro-bind")
    own = Path(sys.prefix).resolve()
    if not view.network and own != view.root and own.is_relative_to(view.root):
        how[own] = "--ro-bind"
    how |= dict.fromkeys(view.kept, "--ro-bind") | dict.fromkeys(view.emptied, "--tmpfs")
    return how | _pinned(view, how) | {view.private: "--bind"}


def _pinned(view: View, how: dict[Path, str]) -> dict[Path, str]:
    """The folders around what may not be changed, each a mount of its own: others could be renamed with all that is in
    them, and their likes be put in their place. In a copy of the workspace nobody would read those.
    """
    if view.stand_in is not None:
        return {}
    held = [path for path, word in how.items() if word == "--ro-bind" and view.root in path.parents]
    around = {folder for path in held for folder in path.parents if view.root in folder.parents} - how.keys()
    nearest = {folder: next(how[above] for above in folder.parents if above in how) for folder in around}
    return {folder: word for folder, word in nearest.items() if word == "--bind"}
