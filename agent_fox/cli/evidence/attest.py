"""`agent-fox attest`: one signed statement about a commit, which `agent-fox gate --evidence` reads anywhere."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from agent_fox.cli.errors import UserError
from agent_fox.cli.exits import Exit
from agent_fox.cli.opening import reading
from agent_fox.cli.place import here
from agent_fox.cli.screen import json_option, plain, print_json
from agent_fox.core.late import late_module
from agent_fox.core.markdown import code
from agent_fox.core.values import to_object
from agent_fox.core.words import counted
from agent_fox.evidence.faults import Findings

if TYPE_CHECKING:
    from agent_fox import config
    from agent_fox.cli import version
    from agent_fox.cli.evidence import keys as key_files
    from agent_fox.cli.evidence import ledger as ledger_commands
    from agent_fox.engine.doors import attesting
    from agent_fox.evidence import waivers, witness
    from agent_fox.evidence.exports import attestation
    from agent_fox.evidence.exports.attestation import Answer
    from agent_fox.store import state as states
    from agent_fox.system import clock, git
else:
    config = late_module("agent_fox.config")
    version = late_module("agent_fox.cli.version")
    attestation = late_module("agent_fox.evidence.exports.attestation")
    key_files = late_module("agent_fox.cli.evidence.keys")
    ledger_commands = late_module("agent_fox.cli.evidence.ledger")
    attesting = late_module("agent_fox.engine.doors.attesting")
    waivers = late_module("agent_fox.evidence.waivers")
    witness = late_module("agent_fox.evidence.witness")
    states = late_module("agent_fox.store.state")
    clock = late_module("agent_fox.system.clock")
    git = late_module("agent_fox.system.git")

FILE = click.Path(path_type=Path)
LONGEST_LINE = 1_000
LARGEST = 64 * 1024**2
"""Characters of a statement that are read: what is longer was never written by us."""


@click.command("attest", short_help="Sign what is proven of a commit, for machines without this state.")
@click.argument("name", metavar="COMMIT")
@click.option("--key", required=True, metavar="KEY", help="Sign with this key: a name of `keys list`, or a file.")
@click.option("--passphrase-file", type=FILE, metavar="FILE", help="Read the key's passphrase from its first line.")
@click.option("--output", type=FILE, metavar="FILE", help="Where the statement goes. Unset: the standard output.")
@json_option
def command(name: str, key: str, passphrase_file: Path | None, output: Path | None, as_json: bool) -> Exit:
    """Write one signed statement about COMMIT: a verification summary of SLSA in a signed envelope. It says how each
    requirement is known, what is waived until when, and whether all of it is proven on the very files of COMMIT.

    `agent-fox gate --commit COMMIT --evidence FILE --key PUB` answers by it in a clone that has no state. A ledger that
    is not sound is not vouched for. Exits 2 where COMMIT is not proven; the statement then says so.
    """
    if as_json and output is None:
        raise UserError("--json tells what was written: name the statement's file with --output FILE")
    root = here()
    commit = git.commit_of(root, name)
    if commit is None:
        raise UserError(f"{name}: there is no such commit here; name one, such as HEAD")
    settings = config.load(root, os.environ)
    sign, signer = ledger_commands.signing(key_files.key_file(key), passphrase_file)
    with reading(root) as db, states.snapshot(db):
        ledger_commands.refuse_unsound(db, root)
        grounds = waivers.grounds_of(root, settings, os.environ)
        lost = witness.why_lost(db, witness.path_of(os.environ, root))
        made = attesting.attestation_of(db, grounds, settings, commit, clock.now(), version.installed(), lost)
    line = sign(made.payload()).to_json() + "\n"
    if output is None:
        click.echo(line, nl=False)
    else:
        ledger_commands.write_lines(output, iter([line]))
    about = made.about
    count = sum(each.counts for each in about.requirements)
    if as_json:
        document = {"commit": commit, "result": made.result, "signer": signer, "file": str(output)}
        print_json({**document, **about.model_dump(mode="json", by_alias=True)})
    else:
        waived = f", {len(about.waivers)} of them waived" if about.waivers else ""
        text = f"{made.result}: {count} of {counted(len(about.requirements), 'requirement')} of {commit[:12]}{waived}"
        click.echo(plain(text), err=output is None)
    return Exit.DONE if made.result == "PASSED" else Exit.UNPROVEN


def judge(evidence: Path, key: str | None, name: str, append: Callable[[str], None] | None, *, as_json: bool) -> Exit:
    """`gate --evidence`: whether a commit may count as done by a statement about it, in a clone without a state.
    `append` takes the answer as Markdown."""
    root = here()
    commit = git.commit_of(root, name)
    if commit is None:
        raise UserError(f"--commit {name}: there is no such commit here; fetch it, or name another")
    doubts = Findings()
    signers = ledger_commands.makers_of(key, () if key else ledger_commands.trusted_signers(None, doubts))
    if not signers:
        why = "".join(f" ({doubt.why})" for doubt in doubts.unchecked)
        raise UserError(f"nobody is trusted to sign evidence here{why}: name the public key with --key PUB")
    try:
        with evidence.open(encoding="utf-8", errors="surrogateescape") as file:
            text = file.read(LARGEST)
    except OSError as error:
        raise UserError(f"{evidence}: {error.strerror}; name a file that `agent-fox attest` wrote") from error
    answer = attestation.answer(text.strip(), commit, signers, clock.now())
    lines = list(_lines(answer))
    if append is not None:
        append("\n".join(["## agent-fox gate", "", *(f"- {code(line, LONGEST_LINE)}" for line in lines), ""]))
    if as_json:
        about = answer.about.model_dump(mode="json", by_alias=True) if answer.about else None
        document = to_object(answer, without=("about",))
        print_json({"passed": answer.passed, **document, "about": about})
    else:
        click.echo("\n".join(map(plain, lines)))
    return Exit.DONE if answer.passed else Exit.UNPROVEN


def _lines(answer: Answer) -> Iterator[str]:
    yield from (f"no: {reason}" for reason in answer.reasons)
    about = answer.about
    if about:
        words = Counter(each.how for each in about.requirements if each.counts and each.how)
        yield from (f"{count} {how}" for how, count in words.items())
        for waiver in about.waivers:
            until = f"until {waiver.expires_at}: {waiver.reason}"
            yield f"waived: {waiver.spec}/{waiver.requirement} by {waiver.signer} {until}"
    signed = f", signed by {answer.signer} at {answer.at}" if answer.at else ""
    yield f"{'passed' if answer.passed else 'blocked'}: {answer.commit[:12]}{signed}"
