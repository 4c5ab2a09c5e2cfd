"""Which missing parts a project had asked for, or could not bring itself. Names and messages alone; nothing is read."""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex

if TYPE_CHECKING:
    from agent_fox.verifier.ground.disposition_facts import FailureFacts

_MODULE = regex(
    r"No module named '?(?P<python>[\w.]+)|Cannot find (?:module|package) '(?P<node>(?:@[\w.-]+/)?[\w.-]+)"
    r"|Cannot find implementation or library stub for module named \"(?P<typed>[\w.]+)\""
)
_HEADER = regex(r"(?P<header>\S+\.h(?:pp|h|xx)?): No such file or directory")
_LIBRARY = regex(
    r"ImportError: (?:(?P<object>\S+): cannot open shared object file"
    r"|.*version `(?P<version>GLIBC\w*_[\d.]+)' not found)"
)
_PARTS_OF_PYTHON = frozenset(
    {
        "_bz2",
        "_ctypes",
        "_curses",
        "_dbm",
        "_gdbm",
        "_hashlib",
        "_lzma",
        "_sqlite3",
        "_ssl",
        "_tkinter",
        "_uuid",
        "zlib",
    }
)
_IMPORTED_AS = MappingProxyType(
    {
        "attrs": "attr",
        "beautifulsoup4": "bs4",
        "djangorestframework": "rest-framework",
        "dnspython": "dns",
        "gitpython": "git",
        "grpcio": "grpc",
        "mysqlclient": "mysqldb",
        "opencv-python": "cv2",
        "opencv-python-headless": "cv2",
        "pillow": "pil",
        "protobuf": "google",
        "psycopg2-binary": "psycopg2",
        "pycryptodome": "crypto",
        "pygithub": "github",
        "pyjwt": "jwt",
        "pymupdf": "fitz",
        "pyserial": "serial",
        "pyyaml": "yaml",
        "pyzmq": "zmq",
        "scikit-image": "skimage",
        "scikit-learn": "sklearn",
        "setuptools": "pkg-resources",
    }
)
"""Packages whose module has another name that no rule gives."""

_SHARED_NAMES = frozenset({"azure", "backports", "google", "jaraco", "ruamel", "zope"})
"""Names below which many packages put their modules."""

_FIXTURE = regex(r"fixture '(?P<name>\w+)' not found")
_AVAILABLE = regex(r"available fixtures: (?P<names>.*)")
_NATIVE = regex(r"(?:Error: )?The module '\S*node_modules/(?P<package>(?:@[\w.-]+/)?[\w.-]+)/\S+\.node'")
_OTHER_NODE = "was compiled against a different Node.js version"


def missing_part(facts: FailureFacts) -> str | None:
    """A package that a manifest asks for, a part of the interpreter, or a system's header, that is not there.

    None for what the code itself may be expected to bring: a module of its own, or a package nobody declared.
    """
    failure = facts.failure
    if match := _MODULE.search(failure.message):
        name = (match["python"] or match["typed"] or "").partition(".")[0] or match["node"]
        return name if name in _PARTS_OF_PYTHON or _is_declared(name, facts) else None
    if match := _LIBRARY.match(failure.message):
        return match["object"] or match["version"]
    if (match := _HEADER.search(failure.message)) and failure.file not in facts.files_changed:
        is_systems = f"#include <{match['header']}>" in f"{failure.evidence}\n{facts.tail}"
        return match["header"] if is_systems else None
    return None


def missing_beneath_test(facts: FailureFacts) -> str | None:
    """What a test's runner says is missing before the test could begin: a declared plugin, or a native part."""
    text = f"{facts.failure.evidence}\n{facts.tail}"
    if match := _FIXTURE.match(facts.failure.message):
        return _missing_plugin(match["name"], text, facts)
    match = _NATIVE.match(facts.failure.message)
    is_of_file = facts.failure.test_name == facts.failure.file
    return f"{match['package']} for this version of Node" if match and is_of_file and _OTHER_NODE in text else None


def _missing_plugin(fixture: str, message: str, facts: FailureFacts) -> str | None:
    """The declared plugin that would bring the fixture, if nothing of it is there."""
    available = _AVAILABLE.search(message)
    if available is None:
        return None
    here = available["names"].split(", ")
    for package in sorted(map(_plain, facts.declared)):
        stem = package.removeprefix("pytest-").replace("-", "_")
        brings = fixture.startswith(stem) if package.startswith("pytest-") else fixture == stem
        if brings and not any(name.startswith(stem) for name in here):
            return package
    return None


def _is_declared(name: str, facts: FailureFacts) -> bool:
    """Whether a package is asked for that brings this module: of the same name, or of one that differs as usual."""
    wanted = _plain(name)
    return any(wanted in _modules_of(_plain(package)) for package in facts.declared)


def _modules_of(package: str) -> set[str]:
    """The names that a package's modules are likely to have."""
    first = package.partition("-")[0]
    usual = {package, package.removeprefix("python-"), package.removesuffix("-python"), package.removesuffix("-binary")}
    return usual | {_IMPORTED_AS.get(package, package)} | ({first} if first in _SHARED_NAMES else set())


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
