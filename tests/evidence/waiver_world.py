"""A person with a key outside of the repository, who is trusted to waive; and a repository that needs it."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

from agent_fox.evidence.signing import keys
from agent_fox.testing.worlds import NEVER, Req, World, program, run_cli
from agent_fox.testing.worlds import environment as environment_of

PASSPHRASE = "correct horse"
ONE_TRY = "[retry]\nattempts = 1\n"
HOPELESS = World(
    {"01_calc": [Req("01-REQ-1.1", right_at=NEVER), Req("01-REQ-1.2")], "02_top": [Req("02-REQ-1.1")]},
    depends={"02_top": "01_calc"}, settings=ONE_TRY,
)  # fmt: skip
"""One requirement that is never met, another that is, and a spec that waits for them."""


@dataclass(frozen=True)
class Person:
    """Somebody with a folder of keys, a state folder and a home of their own."""

    home: Path
    name: str = "alice"

    @property
    def keys(self) -> Path:
        return self.home / "keys"

    @property
    def key(self) -> Path:
        return self.keys / f"{self.name}.pem"

    @property
    def passphrase(self) -> Path:
        return self.home / "passphrase"

    @property
    def signing(self) -> tuple[str, ...]:
        return "--key", str(self.key), "--passphrase-file", str(self.passphrase)

    @property
    def environ(self) -> dict[str, str]:
        """Nothing of the home of whoever runs the tests."""
        folders = {"XDG_STATE_HOME": "state", "XDG_CONFIG_HOME": "config"}
        own = {name: str(self.home / folder) for name, folder in folders.items()}
        return {"HOME": str(self.home), "AGENT_FOX_KEYS": str(self.keys), **own}

    def cli(self, root: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        return run_cli(root, *arguments, timeout=120, data=None, **{**self.environ, **variables})

    def waive(self, root: Path, *arguments: str, expires: str = "30d", **variables: str) -> str:
        """`agent-fox waive ARGUMENTS`, signed; it must succeed. What it prints."""
        told = ("--reason", "the vendor mends it", "--expires", expires, *self.signing)
        done = self.cli(root, "waive", *arguments, *told, **variables)
        assert done.returncode == 0, done
        return done.stdout

    def run(self, root: Path, ends: int, **variables: str) -> subprocess.CompletedProcess[str]:
        done = self.cli(root, "run", **variables)
        assert (done.returncode, "Traceback" in done.stderr) == (ends, False), (
            done.stdout[-3000:],
            done.stderr[-2000:],
        )
        return done

    def command(self, *arguments: str, **variables: str) -> tuple[list[str], dict[str, str]]:
        """The same as words and environment, to be started in another way."""
        return program(*arguments), environment_of(**{**self.environ, **variables})


def person(folder: Path, name: str = "alice", *, is_trusted: bool = True) -> Person:
    """Make one, with a key that a passphrase guards."""
    found = Person(folder / name, name)
    found.home.mkdir(parents=True)
    found.passphrase.write_text(f"{PASSPHRASE}\n")
    public = keys.new_key(found.key, PASSPHRASE)
    if is_trusted:
        keys.trust(found.keys / keys.SIGNERS, keys.Signer(name, (keys.WAIVERS,), public))
    return found
