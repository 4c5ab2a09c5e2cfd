"""`python -m tools.release`: what is published, built and tried as strangers will have it. Publishes nothing.

Each check is a row: `ok`, `wrong`, or `not known` where this machine cannot try it. The exit code is 1 where one is
wrong, else 2 where one is not known, else 0. Everything stands in build/release afterwards.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from tools.site import prepare

ROOT = Path(__file__).resolve().parents[1]
OUT = ROOT / "build" / "release"
TOOLS = ("cyclonedx-bom>=7", "pip-audit>=2.10", "pip-licenses>=5.5", "zensical>=0.0.70")
VERSIONS = ("3.11", "3.12", "3.13", "3.14")
BASE = Path(sys.executable).resolve()
"""The interpreter itself: an environment that is made by another's program would borrow from that one."""

SECONDS = 900
WHEEL_MIB, SDIST_MIB = 2.5, 5.0
"""What the base install may weigh: the wheel as it is fetched, and the source beside its documents and tests."""

DOORS = {
    "acp": "agent_fox.session.agents.acp.adapter",
    "cloud": "aws_bedrock_token_generator, google.auth",
    "cluster": "agent_fox.cluster.worker",
    "formal": "crosshair, z3",
    "github": "keyring",
    "mcp": "agent_fox.mcp.server",
    "policy": "tree_sitter, tree_sitter_java",
    "sandbox": "pyseccomp",
    "upstream": "agent_fox.store.upstream",
    "view": "agent_fox.web.server",
}
"""By extra, modules that need it, or are it."""

FREE = re.compile(
    r"\b(?:MIT|0?BSD|ISC|Apache|Python Software Foundation|PSFL?|MPL|Mozilla Public|Unlicense|Zlib|Public Domain)\b",
    re.IGNORECASE,
)
"""`BSD-3-Clause`, `MIT License OR Apache-2.0`; no `GPLv3`, `LGPL-2.1`, `UNKNOWN`."""

READ = {"agent-client-protocol": "Apache-2.0, by the file in it", "PyGithub": "LGPL, used as it comes"}
"""Packages whose licence a person has read, since their metadata says none, or one that asks for something."""


class Unknown(Exception):
    """The check cannot be tried here. The text says what is missing."""


class Wrong(Exception):
    """The check was tried, and does not hold."""


@dataclass
class Release:
    """The commit's files in a folder of their own, and what was built of them."""

    folder: Path
    stamp: str
    base: tuple[Path, Path] = field(init=False)
    doubles: Path = field(init=False)
    rows: list[tuple[str, str, str]] = field(default_factory=list)

    def check(self, name: str, attempt: Callable[[], str]) -> None:
        try:
            row = (name, "ok", attempt())
        except Unknown as error:
            row = (name, "not known", str(error))
        except (Wrong, OSError, subprocess.TimeoutExpired) as error:
            row = (name, "wrong", str(error))
        self.rows.append(row)
        print(f"{row[1]:<10} {name:<28} {row[2]}", flush=True)

    def build(self) -> str:
        """Twice, in two folders: the files are the same to the byte."""
        first, second = self.built("one"), self.built("two")
        for left, right in zip(first, second, strict=True):
            if digest(left) != digest(right):
                raise Wrong(f"{left.name} differs between two builds of one commit")
        *base, self.doubles = first
        self.base = (base[0], base[1])
        return ", ".join(f"{path.name} {digest(path)[:12]}" for path in first)

    def built(self, name: str) -> tuple[Path, Path, Path]:
        """The wheel, the source distribution, and the wheel of the doubles."""
        source, out = self.folder / name / "source", self.folder / name / "out"
        source.mkdir(parents=True)
        files = subprocess.run(("git", "archive", "HEAD"), cwd=ROOT, capture_output=True, check=True).stdout
        subprocess.run(("tar", "-x"), cwd=source, input=files, check=True)
        environ = {**os.environ, "SOURCE_DATE_EPOCH": self.stamp}
        for project, targets in ((source, ("wheel", "sdist")), (source / "agent_fox" / "testing", ("wheel",))):
            for target in targets:
                done((sys.executable, "-m", "hatchling", "build", "-t", target, "-d", out), project, environ)
        (wheel,), (source_files,) = out.glob("agent_fox-*.whl"), out.glob("agent_fox-*.tar.gz")
        (doubles,) = out.glob("agent_fox_testing-*.whl")
        return wheel, source_files, doubles

    def contents(self) -> str:
        """No double, no test, no file of this machine in the wheel; both small."""
        wheel, source = self.base
        names = zipfile.ZipFile(wheel).namelist()
        strange = [name for name in names if re.search(r"agent_fox/testing/|(?:^|/)(?:tests|fixtures)/|\.db$", name)]
        if strange:
            raise Wrong(f"the wheel holds {strange[0]}")
        sizes = {path.name: path.stat().st_size / 2**20 for path in self.base}
        if sizes[wheel.name] > WHEEL_MIB or sizes[source.name] > SDIST_MIB:
            raise Wrong(f"too large: {sizes}")
        return f"{len(names)} files; " + ", ".join(f"{name} {size:.1f} MiB" for name, size in sizes.items())

    def first_session(self, python: Path, distribution: Path) -> str:
        """README's first session in an empty environment, its folder out of the source distribution."""
        home = self.folder / f"session-{distribution.suffix[1:]}-{version_of(str(python))}"
        environment = Environment.made(home / "env", python)
        environment.install(str(distribution), "pytest")
        shutil.unpack_archive(self.base[1], home)  # extractall's `filter` came with 3.11.4
        (unpacked,) = home.glob("agent_fox-*")
        script = first_session_of((unpacked / "README.md").read_text(encoding="utf-8"))
        session = environment.run(("sh", "-ec", script), unpacked)
        if session.returncode or "PROVEN" not in session.stdout or "greeting.py" not in session.stdout:
            raise Wrong(f"README's first session exits with {session.returncode}: {last(session)}")
        return f"{environment.version()}; proven by README's first session; {environment.count()} packages"

    def extra(self, name: str) -> str:
        environment = Environment.made(self.folder / f"extra-{name}", BASE)
        if name == "testing":
            environment.install(str(self.base[0]), str(self.doubles))
            tried = environment.run(("python", "-m", "agent_fox.testing.demo", "shop"), environment.folder)
        else:
            environment.install(f"{self.base[0]}[{name}]")
            tried = environment.run(("python", "-c", f"import {DOORS[name]}"), environment.folder)
        if tried.returncode:
            raise Wrong(last(tried))
        return f"{environment.count()} packages"


@dataclass(frozen=True, slots=True)
class Environment:
    """A virtual environment that begins empty."""

    folder: Path

    @classmethod
    def made(cls, folder: Path, python: Path) -> Environment:
        done((str(python), "-m", "venv", str(folder)), folder.parent.parent, os.environ)
        return cls(folder)

    def install(self, *wanted: str) -> None:
        tried = self.run(
            ("python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *wanted), self.folder
        )
        if tried.returncode:
            text = last(tried)
            if re.search(r"No matching distribution|Could not find a version", tried.stderr):
                raise Unknown(f"a package cannot be had here: {text}")
            raise Wrong(text)
        checked = self.run(("python", "-m", "pip", "check"), self.folder)
        if checked.returncode:
            raise Wrong(f"pip check: {last(checked)}")

    def run(self, command: Sequence[str], folder: Path) -> subprocess.CompletedProcess[str]:
        """Without anything of this checkout: no variable of its own, a home that is empty."""
        kept = {name: os.environ[name] for name in os.environ if name.startswith(("PIP_", "SSL_", "LANG"))}
        path = f"{self.folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
        home = self.folder.with_name(f"{self.folder.name}-home")
        home.mkdir(exist_ok=True)
        who = {f"GIT_{role}_{part}": "me" for role in ("AUTHOR", "COMMITTER") for part in ("NAME", "EMAIL")}
        return subprocess.run(
            command, cwd=folder, env={**kept, **who, "PATH": path, "HOME": str(home)}, capture_output=True, text=True,
            check=False, timeout=SECONDS,
        )  # fmt: skip

    def version(self) -> str:
        return self.run(("python", "-V"), self.folder).stdout.strip()

    def count(self) -> int:
        return len(json.loads(self.run(("python", "-m", "pip", "list", "--format", "json"), self.folder).stdout))


def first_session_of(readme: str) -> str:
    """The commands of the section, as they stand there."""
    found = re.search(r"^## A first session\n.*?```sh\n(.*?)```", readme, re.DOTALL | re.MULTILINE)
    if found is None:
        raise Wrong("README has no commands below `A first session`")
    return found[1]


def pythons(named: Sequence[str]) -> Iterator[tuple[str, Path | None]]:
    """By version, a program on the PATH or one that was named; None where there is none."""
    asked = [shutil.which(f"python{version}") for version in VERSIONS]
    found = {version_of(path): Path(path) for path in (*filter(None, asked), str(BASE), *named) if version_of(path)}
    for version in VERSIONS:
        yield version, found.get(version)


def version_of(python: str) -> str:
    """Empty where the program does not run."""
    with suppress(OSError):
        words = (python, "-c", "import sys; print('%d.%d' % sys.version_info[:2])")
        return subprocess.run(words, capture_output=True, text=True, check=False).stdout.strip()
    return ""


def licences(environment: Environment, tools: Environment) -> str:
    """Every package that an install with all extras brings, under a licence that lets it be used so."""
    python = str(environment.folder / "bin" / "python")
    listed = tools.run(("pip-licenses", "--python", python, "--format", "json", "--from", "mixed"), tools.folder)
    packages = json.loads(listed.stdout or "[]")
    if not packages:
        raise Unknown(f"pip-licenses: {last(listed)}")
    (OUT / "licences.json").write_text(listed.stdout, encoding="utf-8")
    ours = ("agent-fox", "agent-fox-testing", *READ)
    strange = [
        f"{one['Name']} ({one['License']})"
        for one in packages
        if not FREE.search(one["License"]) and one["Name"] not in ours
    ]
    if strange:
        raise Wrong(f"to be looked at: {', '.join(strange)}")
    return f"{len(packages)} packages, listed in licences.json"


def vulnerabilities(environment: Environment, tools: Environment) -> str:
    (site,) = environment.folder.glob("lib/python*/site-packages")
    command = ("pip-audit", "--path", str(site), "--format", "json", "--progress-spinner", "off")
    asked = tools.run(command, tools.folder)
    try:
        packages = [one for one in json.loads(asked.stdout)["dependencies"] if not one["name"].startswith("agent-fox")]
    except (ValueError, KeyError):
        why = next((line for line in reversed(asked.stderr.splitlines()) if "Error" in line), last(asked))
        raise Unknown(f"pip-audit has no answer: {re.sub(r'[(:].*', '', why)}") from None
    (OUT / "vulnerabilities.json").write_text(asked.stdout, encoding="utf-8")
    known = [f"{one['name']} {flaw['id']}" for one in packages for flaw in one.get("vulns", ())]
    if known:
        raise Wrong(", ".join(known))
    skipped = [one["name"] for one in packages if "skip_reason" in one]
    if skipped:
        raise Unknown(f"{len(skipped)} of {len(packages)} packages could not be asked about, such as {skipped[0]}")
    return f"{len(packages)} packages, none known"


def bill(environment: Environment, tools: Environment) -> str:
    """The software bill of materials, CycloneDX in JSON, checked against its schema."""
    python, out = str(environment.folder / "bin" / "python"), OUT / "sbom.json"
    command = ("cyclonedx-py", "environment", python, "--output-reproducible", "--of", "JSON", "-o", str(out))
    tried = tools.run(command, tools.folder)
    if tried.returncode:
        raise Wrong(last(tried))
    parts = json.loads(out.read_text(encoding="utf-8"))["components"]
    return f"{len(parts)} components, in sbom.json"


def site(tools: Environment) -> str:
    """The documentation as pages with search; a link that leads nowhere is an error."""
    prepare(OUT / "site", os.environ.get("REPOSITORY_URL"))
    tried = tools.run(("zensical", "build", "--strict"), OUT / "site")
    if tried.returncode:
        raise Wrong(last(tried))
    return f"{len(list((OUT / 'site' / 'site').rglob('index.html')))} pages, in site/site"


def done(command: Sequence[str | Path], folder: Path, environ: Mapping[str, str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    tried = subprocess.run(
        command, cwd=folder, env=environ, capture_output=True, text=True, check=False, timeout=SECONDS
    )
    if tried.returncode:
        raise Wrong(f"{command[0]}: {last(tried)}")


def last(tried: subprocess.CompletedProcess[str]) -> str:
    lines = [line for line in (*tried.stdout.splitlines(), *tried.stderr.splitlines()) if line.strip()]
    return " / ".join(lines[-3:])[:600]


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def main(arguments: Sequence[str]) -> int:
    options = argparse.ArgumentParser(prog="python -m tools.release", description=__doc__)
    options.add_argument("--python", nargs="*", default=[], metavar="PROGRAM", help="Pythons that are not on the PATH")
    chosen = options.parse_args(arguments)
    shutil.rmtree(OUT, ignore_errors=True)
    OUT.mkdir(parents=True)
    commit = subprocess.run(("git", "log", "-1", "--format=%ct"), cwd=ROOT, capture_output=True, text=True, check=True)
    release = Release(OUT / "work", commit.stdout.strip())
    release.check("built twice, alike", release.build)
    if release.rows[-1][1] == "ok":
        everything(release, chosen.python)
    return ended(release.rows, OUT)


def everything(release: Release, named: Sequence[str]) -> None:
    wheel, source = release.base
    release.check("what is in it", release.contents)
    for version, python in pythons(named):
        if python is None:
            release.check(f"Python {version}", lambda: missing("there is none here; name one with --python"))
        else:
            release.check(f"Python {version}", lambda python=python: release.first_session(python, wheel))  # type: ignore[misc]
    release.check("from the source", lambda: release.first_session(BASE, source))
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    for name in sorted(extras.keys() - {"dev"}):
        release.check(f"extra {name}", lambda name=name: release.extra(name))  # type: ignore[misc]
    about_packages(release, sorted(extras.keys() - {"dev", "testing"}))


def about_packages(release: Release, extras: Sequence[str]) -> None:
    def prepared() -> str:
        whole.install(f"{release.base[0]}[{','.join(extras)}]")
        tools.install(*TOOLS)
        return f"{whole.count()} packages"

    whole = Environment.made(release.folder / "whole", BASE)
    tools = Environment.made(release.folder / "tools", BASE)
    release.check("all extras together", prepared)
    if release.rows[-1][1] == "ok":
        release.check("licences", lambda: licences(whole, tools))
        release.check("known vulnerabilities", lambda: vulnerabilities(whole, tools))
        release.check("bill of materials", lambda: bill(whole, tools))
        release.check("documentation site", lambda: site(tools))


def missing(text: str) -> str:
    raise Unknown(text)


def ended(rows: Sequence[tuple[str, str, str]], folder: Path) -> int:
    (folder / "checks.json").write_text(json.dumps(rows, indent=2) + "\n", encoding="utf-8")
    wrong, unknown = ([name for name, how, _ in rows if how == word] for word in ("wrong", "not known"))
    print(f"\n{len(rows) - len(wrong) - len(unknown)} of {len(rows)} hold", end="")
    print(f"; wrong: {', '.join(wrong)}" if wrong else "", end="")
    print(f"; not known: {', '.join(unknown)}" if unknown else "")
    return 1 if wrong else 2 if unknown else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
