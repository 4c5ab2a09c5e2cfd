"""What perturbs a value, in the language of a text that is broken: code for the text's end, from the folder `perturb`.

In JavaScript there are live views of instances, so that private fields work, and copies of plain things, the same copy
for the same original.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from zlib import crc32

from agent_fox.verifier.mutants.syntax import free_name
from agent_fox.verifier.policy.values import Language

FOLDER = Path(__file__).with_name("perturb")
_FILES = {Language.GO: "perturb.go", Language.JAVA: "Perturb.java", Language.RUST: "perturb.rs"}
_TYPED, _UNTYPED = "<T>(v: T, d = 0, pair = null): T", "(v, d = 0, pair = null)"


def helper_name(text: str, language: Language) -> str:
    """A name that the text does not have, nor the other files of its package."""
    return free_name(text, f"{'P' if language is Language.JAVA else 'p'}erturbed{crc32(text.encode()):08x}")


def perturbing(name: str, language: Language) -> str:
    """The code under this name. In Go it wants the packages `reflect`, `sync` and `unsafe`, as the name and theirs.

    For TypeScript, what it returns keeps its type.
    """
    code = _code(_FILES.get(language, "perturb.js"))
    return (code.replace(_TYPED, _UNTYPED) if language is Language.JAVASCRIPT else code).replace("NAME", name)


@cache
def _code(file: str) -> str:
    return (FOLDER / file).read_text(encoding="utf-8")
