"""An image for containers, made of parts of this machine: no registry is asked. It holds a shell, Python and pytest."""

from __future__ import annotations

import functools
import hashlib
import io
import re
import shutil
import subprocess
import sys
import tarfile
from importlib.metadata import files
from pathlib import Path

PROGRAMS = ("sh", "env", "cat", "sleep", "ls", "id", "true", "head")
PACKAGES = ("pytest", "pluggy", "iniconfig", "packaging", "pygments")
NAME = "localhost/agent-fox-test"


def libraries_of(*programs: Path) -> set[Path]:
    """The shared libraries that these load, and what loads them."""
    told = subprocess.run(["ldd", *map(str, programs)], capture_output=True, text=True, check=False).stdout
    return {Path(path) for path in re.findall(r"(/\S+\.so\S*) \(0x", told)}


def tree() -> dict[str, Path]:
    """Files of the image, by their names in it."""
    programs = [Path(found) for name in PROGRAMS if (found := shutil.which(name, path="/usr/bin:/bin"))]
    python = Path(sys.base_prefix) / f"bin/python3.{sys.version_info[1]}"
    library = Path(sys.base_prefix) / f"lib/python3.{sys.version_info[1]}"
    modules = [path for path in library.rglob("*") if path.is_file() and not left_out(path.relative_to(library))]
    loaded = [path for path in modules if path.suffix == ".so"]
    kept = {f"usr/bin/{path.name}": path for path in programs}
    kept |= {str(path)[1:]: path for path in (python, *modules, *libraries_of(*programs, python, *loaded))}
    kept |= {"usr/bin/python3": python, "usr/bin/python": python}
    for package in PACKAGES:
        for file in files(package) or []:
            if ".." not in file.parts and "__pycache__" not in file.parts:
                kept[f"{str(library)[1:]}/site-packages/{file}"] = Path(str(file.locate()))
    return kept


def left_out(path: Path) -> bool:
    return path.parts[0] in ("site-packages", "test", "idlelib", "ensurepip", "lib2to3", "turtledemo", "tkinter") or (
        "__pycache__" in path.parts or path.parts[0].startswith("config-")
    )


def made_tar() -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for name, path in sorted(tree().items()):
            if path.is_file():
                tar.add(path.resolve(), arcname=name, recursive=False)
        for name, text in {
            "usr/bin/pytest": "#!/usr/bin/env python3\nimport pytest\nraise SystemExit(pytest.console_main())\n",
            "etc/image": "of the image\n",
        }.items():
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(text), 0o755
            tar.addfile(entry, io.BytesIO(text.encode()))
        for name in ("bin", "sbin"):
            link = tarfile.TarInfo(name)
            link.type, link.linkname = tarfile.SYMTYPE, "usr/bin"
            tar.addfile(link)
    return buffer.getvalue()


@functools.cache
def image() -> tuple[str, str]:
    """The image's name, and why there is none."""
    if shutil.which("podman") is None:
        return "", "podman is not installed"
    known = hashlib.sha256("\n".join(sorted(tree())).encode()).hexdigest()[:12]
    name = f"{NAME}:{known}"
    if subprocess.run(["podman", "image", "exists", name], check=False).returncode:
        words = ["podman", "import", "--change", f"ENV PATH=/usr/bin:{Path(sys.base_prefix) / 'bin'}", "-", name]
        done = subprocess.run(words, input=made_tar(), capture_output=True, check=False)
        if done.returncode:
            return "", f"podman makes no image here: {done.stderr.decode()[-200:]}"
    argv = ["podman", "run", "--rm", "--network", "none", *limits(), name, "python3", "-c", "import pytest"]
    tried = subprocess.run(argv, capture_output=True, text=True, check=False)
    return name, f"podman runs nothing here: {tried.stderr[-200:]}" if tried.returncode else ""


def limits() -> list[str]:
    from agent_fox.system.sandbox.containers import ulimits  # noqa: PLC0415 - podman is not everywhere

    return list(ulimits())
