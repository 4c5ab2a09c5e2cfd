"""`python -m tests.specs.made FORM SEED [COUNT]`: a seed's files and what is misread; of COUNT, which are."""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.specs.made.forms import FORMS, differences, made_by
from tests.specs.made.telling import Made


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")


def wrong(made: Made) -> list[str]:
    with TemporaryDirectory() as root:
        return differences(made, Path(root))


def main(form: str, seed: int, count: int) -> int:
    if count == 1:
        for name, content in made_by(form, seed).files.items():
            say(f"===== {name}\n{content.decode('utf-8-sig')}")
    failed = {number: lines for number in range(seed, seed + count) if (lines := wrong(made_by(form, number)))}
    for number, lines in failed.items():
        say("\n  ".join([f"seed {number}:", *(lines if count == 1 else lines[:3])]))
    say(f"{len(failed)} of {count} went wrong")
    return 1 if failed else 0


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4) or sys.argv[1] not in FORMS:
        sys.exit(f"usage: python -m tests.specs.made {{{','.join(FORMS)}}} SEED [COUNT]")
    sys.exit(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) == 4 else 1))
