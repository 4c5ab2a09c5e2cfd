"""GitHub's own description of its API (OpenAPI), fetched into a cache folder, so that the fake can be held against it.

`python -m tools.github_description` fetches the npm package that carries it, checks that it is the one that is meant,
and keeps what the tests use: the operations below, with the schemas that they refer to. What is there already is not
fetched again. Exit code 75: the registry could not be reached.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path

from pydantic import JsonValue

PACKAGE, VERSION = "@octokit/openapi", "23.0.2"
INTEGRITY = "sha512-pV8M7L9GY23AybNvTmo2nyjmpmnt6+2sRE/tqr0ZLQcPS4lnw7u5eZGNmwRNkBC3D7gZXbFx5AHzLUVRBXGDhg=="
MEMBER = "package/generated/api.github.com.json"
SECONDS = 300
NOT_FETCHED = 75
"""The exit code for a registry that cannot be reached: `EX_TEMPFAIL` of sysexits."""

_OF_REPOSITORY = "/repos/{owner}/{repo}"
_OF_ISSUE = f"{_OF_REPOSITORY}/issues/{{issue_number}}"
OPERATIONS = (
    ("get", "/user"),
    ("get", "/users/{username}"),
    ("get", "/app"),
    ("get", "/app/installations/{installation_id}"),
    ("post", "/app/installations/{installation_id}/access_tokens"),
    ("get", "/rate_limit"),
    ("get", _OF_REPOSITORY),
    ("get", f"{_OF_REPOSITORY}/installation"),
    ("get", f"{_OF_REPOSITORY}/issues"),
    ("post", f"{_OF_REPOSITORY}/issues"),
    ("get", _OF_ISSUE),
    ("patch", _OF_ISSUE),
    ("get", f"{_OF_ISSUE}/comments"),
    ("post", f"{_OF_ISSUE}/comments"),
    ("get", f"{_OF_ISSUE}/sub_issues"),
    ("post", f"{_OF_ISSUE}/sub_issues"),
    ("get", f"{_OF_REPOSITORY}/issues/comments/{{comment_id}}"),
    ("patch", f"{_OF_REPOSITORY}/issues/comments/{{comment_id}}"),
    ("get", f"{_OF_REPOSITORY}/labels"),
    ("post", f"{_OF_REPOSITORY}/labels"),
    ("get", f"{_OF_REPOSITORY}/labels/{{name}}"),
    ("get", f"{_OF_REPOSITORY}/pulls"),
    ("post", f"{_OF_REPOSITORY}/pulls"),
    ("patch", f"{_OF_REPOSITORY}/pulls/{{pull_number}}"),
    ("get", f"{_OF_REPOSITORY}/commits/{{ref}}/check-runs"),
    ("post", f"{_OF_REPOSITORY}/check-runs"),
    ("get", f"{_OF_REPOSITORY}/commits/{{ref}}/statuses"),
    ("post", f"{_OF_REPOSITORY}/statuses/{{sha}}"),
    ("get", f"{_OF_REPOSITORY}/milestones"),
    ("get", f"{_OF_REPOSITORY}/assignees/{{assignee}}"),
    ("get", f"{_OF_REPOSITORY}/collaborators/{{username}}/permission"),
)
PROSE = ("description", "summary", "example", "examples", "externalDocs", "x-github", "x-github-breaking-changes")
_NAMED = ("properties", "schemas", "responses", "parameters", "headers")
"""Members whose own members are names, not words of the description."""


def main() -> int:
    """0 where the description is there; NOT_FETCHED where it could not be had."""
    try:
        fetch()
    except (subprocess.SubprocessError, OSError) as error:
        print(f"GitHub's description of its API cannot be fetched: {error}", file=sys.stderr)
        return NOT_FETCHED
    return 0


def cached() -> Path:
    """Where the description lies once it was fetched."""
    caches = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    parts = hashlib.sha256(repr((OPERATIONS, PROSE)).encode()).hexdigest()[:8]
    return Path(caches) / "agent-fox" / "github-openapi" / f"{VERSION}-{parts}.json"


def fetch() -> Path:
    """The description, fetched unless it is there. Raises SubprocessError, OSError, ValueError (another package)."""
    file = cached()
    if file.exists():
        return file
    file.parent.mkdir(parents=True, exist_ok=True)
    print(f"fetching {PACKAGE}@{VERSION} for {file}", file=sys.stderr)
    with tempfile.TemporaryDirectory(dir=file.parent) as folder:
        whole = read(packed(Path(folder)))
        new = Path(folder) / file.name
        new.write_text(json.dumps(cut(whole), indent=1), encoding="utf-8")
        new.replace(file)
    return file


def packed(folder: Path) -> Path:
    """The package as npm gives it."""
    npm = shutil.which("npm")
    if npm is None:
        raise FileNotFoundError("npm is not installed; install Node")
    words = [npm, "pack", "--silent", "--fetch-retries=1", "--fetch-timeout=60000", f"{PACKAGE}@{VERSION}"]
    subprocess.run(words, check=True, timeout=SECONDS, cwd=folder, stdout=subprocess.DEVNULL)
    return next(folder.glob("*.tgz"))


def read(package: Path) -> dict[str, JsonValue]:
    """The whole description out of the package. Raises ValueError where it is another package than we know."""
    found = base64.b64encode(hashlib.sha512(package.read_bytes()).digest()).decode()
    if f"sha512-{found}" != INTEGRITY:
        raise ValueError(f"{PACKAGE}@{VERSION} has the checksum sha512-{found}, and should have {INTEGRITY}")
    with tarfile.open(package) as archive:
        member = archive.extractfile(MEMBER)
        assert member is not None  # the checksum says so
        whole: dict[str, JsonValue] = json.load(member)
    return whole


def cut(whole: JsonValue) -> dict[str, JsonValue]:
    """The operations that are used, and all that they refer to, without prose."""
    paths: dict[str, dict[str, JsonValue]] = {}
    for method, path in OPERATIONS:
        paths.setdefault(path, {})[method] = bare(at(whole, "paths", path, method))
    kept: dict[str, dict[str, JsonValue]] = {}
    todo = list(references(list(paths.values())))
    while todo:
        _, _, kind, name = todo.pop().split("/")
        if name not in kept.setdefault(kind, {}):
            kept[kind][name] = bare(at(whole, "components", kind, name))
            todo += references(kept[kind][name])
    version = at(whole, "openapi")
    return {"openapi": version, "version": VERSION, "paths": dict(paths), "components": dict(kept)}


def at(value: JsonValue, *names: str) -> JsonValue:
    for name in names:
        assert isinstance(value, dict)
        value = value[name]
    return value


def bare(value: JsonValue, *, is_named: bool = False) -> JsonValue:
    """A part of the description without prose and examples."""
    if isinstance(value, list):
        return [bare(one) for one in value]
    if not isinstance(value, dict):
        return value
    return {
        name: bare(inner, is_named=not is_named and name in _NAMED)
        for name, inner in value.items()
        if is_named or name not in PROSE
    }


def references(value: JsonValue) -> Iterator[str]:
    """What a part of the description refers to."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    if isinstance(value, dict) and isinstance(value.get("$ref"), str):
        yield str(value["$ref"])
    for one in inner:
        yield from references(one)


if __name__ == "__main__":
    sys.exit(main())
