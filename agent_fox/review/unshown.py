"""Which files a review names without showing what they hold: secrets by their names, what is too large, repositories.

What is shown of all others is in `changes`.
"""

from __future__ import annotations

import hashlib
import re
from enum import StrEnum
from pathlib import Path, PurePosixPath

from agent_fox.core.regex import regex
from agent_fox.core.values import dataclass
from agent_fox.system import git
from agent_fox.system.files import pieces

PROBED = 8000
HASHED = 64 * 1024 * 1024
"""Bytes: of a larger file that is not shown, size and time of change stand for what it holds."""

_EXAMPLE = regex(r"\.(?:example|sample|template|dist)\Z", re.IGNORECASE)
_SECRET_NAME = regex(
    r"\.env(?:\..*|-.*|rc)?|.*\.(?:pem|key|p12|pfx|jks|keystore|kdbx|ppk|asc|gpg|ovpn)"
    r"|id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?|.*_(?:rsa|ed25519)|\.netrc|_netrc|\.pgpass|\.htpasswd|\.npmrc|\.pypirc"
    r"|\.git-credentials|\.dockercfg|.*\.tfstate(?:\..*)?|.*\.tfvars|kubeconfig"
    r"|(?:.*[._-])?(?:credentials?|secrets?|passwords?|tokens?)(?:[._-].*)?\.(?:json|ya?ml|toml|ini|txt|csv|xml|conf|env)"
    r"|credentials|service[-_]?account.*\.json|application_default_credentials\.json",
    re.IGNORECASE,
)
_CODE = regex(
    r".*\.(?:py|pyi|[mc]?[jt]s|[jt]sx|vue|svelte|java|kts?|groovy|scala|go|rs|[ch]|cc|hh|[ch]pp|cxx|m|mm|cs|fs|vb|swift|rb|php"
    r"|pl|pm|lua|sh|bash|zsh|fish|ps1|bat|cmd|sql|ex|exs|erl|clj|hs|ml|dart|r|jl|zig|html?|css|md|rst|json|ya?ml|toml|xml)"
    r"|Makefile|Dockerfile|Jenkinsfile",
    re.IGNORECASE,
)
_SECRET_FOLDERS = frozenset({"secrets", ".secrets", ".ssh", ".aws", ".gnupg", ".kube", ".docker"})


class Why(StrEnum):
    """Why a file is named only."""

    SECRET = "its name says that it holds a secret"
    LARGE = "it is too large to be shown"
    REPOSITORY = "it is a repository of its own"
    EARLIER = "it was removed before the task was registered"
    PRIVATE = "it lay there, hidden from git, before the task was registered"


@dataclass(frozen=True, slots=True)
class Unshown:
    """A file that is named only. `mark` changes with what it holds."""

    path: str
    why: Why
    size: int
    mark: str = ""
    is_text: bool = False
    """Whether it could have been shown, were it not too large."""

    @property
    def state(self) -> str:
        """What lies there, as one word that can be compared."""
        return f"{self.why} {self.size} {self.mark}"


def names_a_secret(path: str) -> bool:
    """Whether a file of this name is likely to hold a secret (`.env`, `server.pem`, `secrets/...`)."""
    parts = PurePosixPath(path).parts
    if not parts or _EXAMPLE.search(parts[-1]):
        return False
    return bool(_SECRET_NAME.fullmatch(parts[-1])) or any(part.lower() in _SECRET_FOLDERS for part in parts[:-1])


def names_code(path: str) -> bool:
    """Whether a file of this name is read as text by those who use it, so that a zero byte in it hides the rest."""
    return bool(_CODE.fullmatch(PurePosixPath(path).name))


def unshown(root: Path, path: str, largest: int) -> Unshown | None:
    """What keeps a new file from being shown; None where nothing does. `DIR/` is a repository inside the tree."""
    if path.endswith("/"):
        return Unshown(path, Why.REPOSITORY, 0, _head_of(root / path))
    size = (root / path).lstat().st_size
    if names_a_secret(path):
        return Unshown(path, Why.SECRET, size, mark_of(root / path))
    if size <= largest:
        return None
    return Unshown(path, Why.LARGE, size, mark_of(root / path), is_text=names_code(path) or _is_text(root / path))


def _is_text(file: Path) -> bool:
    """As git tells text from binary files: by whether its beginning holds a zero byte."""
    return b"\0" not in next(iter(pieces(file, PROBED)), b"")


def mark_of(file: Path) -> str:
    """A hash of what the file holds; for a very large one, of its size and time."""
    seen = file.lstat()
    if seen.st_size > HASHED:
        return f"{seen.st_size}:{seen.st_mtime_ns}"
    digest = hashlib.sha256()
    for piece in pieces(file, HASHED):
        digest.update(piece)
    return digest.hexdigest()


def _head_of(folder: Path) -> str:
    try:
        return git.head(folder) or ""
    except git.GitError:
        return "unreadable"
