"""`agent-fox keys`: keys that sign exports and waivers, and whose signatures count. What is signed is elsewhere."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from agent_fox.cli.errors import UserError
from agent_fox.cli.place import MARKS, here
from agent_fox.cli.screen import json_option, plain, print_json
from agent_fox.core.late import late_module
from agent_fox.evidence.signing import keys, trust
from agent_fox.evidence.signing.keys import KeyTrouble, PublicKey, Signer

if TYPE_CHECKING:
    from agent_fox.cli.evidence import passphrases
else:
    passphrases = late_module("agent_fox.cli.evidence.passphrases")

PURPOSES = {"ledger": keys.LEDGER, "waiver": keys.WAIVERS, "worker": keys.WORKERS}
OR_WAIVER = " (it signs exports), or --for waiver (you waive with it)"


@click.group("keys", invoke_without_command=True, short_help="Make signing keys, and choose whose signatures count.")
@json_option
@click.pass_context
def command(ctx: click.Context, as_json: bool) -> None:
    """Make keys that sign exports and waivers, and choose whose signatures count. Without a command: `agent-fox keys
    list`.

    They lie outside of every repository: in $AGENT_FOX_KEYS, else in $XDG_CONFIG_HOME/agent-fox, else in
    ~/.config/agent-fox.
    """
    if ctx.invoked_subcommand is None:
        ctx.invoke(list_, as_json=as_json)


@command.command("new", short_help="Make a key pair.")
@click.argument("name")
@click.option("--no-passphrase", is_flag=True, help="Leave the key open: for machines only; waivers do not take it.")
@click.option(
    "--passphrase-file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Read the passphrase from its first line.",
)
@json_option
def new(name: str, no_passphrase: bool, passphrase_file: Path | None, as_json: bool) -> None:
    """Make the Ed25519 key NAME: `NAME.pem` and, to give away, `NAME.pub`. The passphrase is asked at the terminal."""
    path = key_file(name)
    if path.exists():
        raise KeyTrouble(f"{path}: there is one already; it is never overwritten, choose another name")
    public = keys.new_key(path, None if no_passphrase else passphrases.chosen(path, passphrase_file))
    if as_json:
        print_json({"key": str(path), "public": public.line, "id": public.id})
    else:
        click.echo(plain(f"made {path}, {public.id}"))
        shown = path.with_suffix(keys.PUBLIC_SUFFIX) if os.sep in name else path.stem
        click.echo(plain(f"next: agent-fox keys trust {shown} --for ledger{'' if no_passphrase else OR_WAIVER}"))


@command.command("list", short_help="List keys, and who is trusted.")
@json_option
def list_(as_json: bool) -> None:
    """List the keys that are here, and the signers that are trusted, with what for."""
    folder, signers = _folder(), trust.signers(os.environ, workplaces())
    own = sorted(folder.glob(f"*{keys.KEY_SUFFIX}"))
    if as_json:
        print_json(
            {"folder": str(folder), "keys": [_key(path) for path in own], "signers": [_signer(s) for s in signers]}
        )
    else:
        click.echo("\n".join(map(plain, _lines(folder, own, signers))))


@command.command("trust", short_help="Trust a key: its signatures count from now on.")
@click.argument("key")
@click.option(
    "--for", "purposes", multiple=True, required=True, type=click.Choice(sorted(PURPOSES)), help="What they count for."
)
@click.option("--as", "principal", metavar="NAME", help="Whose key it is. Unset: the name of the key's file.")
@json_option
def trust_(key: str, purposes: tuple[str, ...], principal: str | None, as_json: bool) -> None:
    """Say that signatures of KEY count: the name of a key that is here, or a file with a public key."""
    path = public_file(key)
    namespaces = tuple(PURPOSES[purpose] for purpose in purposes)
    signer = Signer(principal or path.stem, namespaces, keys.read_public(path))
    keys.trust(_folder() / keys.SIGNERS, signer)
    if as_json:
        print_json(_signer(signer))
    else:
        click.echo(plain(f"{signer.principal} is trusted for: {', '.join(purposes)} ({_folder() / keys.SIGNERS})"))


@command.command("export", short_help="Print a public key, for OpenSSH or as PEM.")
@click.argument("key")
@click.option("--pem", is_flag=True, help="As PEM (SubjectPublicKeyInfo), as in-toto, sigstore and openssl read it.")
@json_option
def export(key: str, pem: bool, as_json: bool) -> None:
    """Print the public half of KEY: the name of a key that is here, or a file with a public key."""
    public = keys.read_public(public_file(key))
    text = public.pem if pem else public.line
    if as_json:
        print_json({"id": public.id, "public": text})
    else:
        click.echo(text.rstrip("\n"))


def _folder() -> Path:
    """The folder of keys, which must not lie where agents work."""
    folder = keys.folder(os.environ)
    trust.refuse_workplace(folder, workplaces())
    return folder


def workplaces() -> tuple[Path, ...]:
    """The repository that this process stands in, if it does."""
    root = here()
    return (root,) if any((root / mark).exists() for mark in MARKS) else ()


def key_file(name: str) -> Path:
    """The private key with this name, or the file that is named by its path."""
    if os.sep in name:
        path = Path(name).expanduser().absolute()
        trust.refuse_workplace(path, workplaces())
        return path
    stem = name.removesuffix(keys.KEY_SUFFIX)
    if not keys.PRINCIPAL.fullmatch(stem):
        raise UserError(f"{name!r} is no name for a key; use letters, digits and . _ @ + -")
    return _folder() / f"{stem}{keys.KEY_SUFFIX}"


def public_file(name: str) -> Path:
    """The public key with this name, or the file that is named by its path."""
    path = Path(name).expanduser()
    if os.sep in name or path.is_file():
        return path
    return _folder() / f"{name.removesuffix(keys.PUBLIC_SUFFIX)}{keys.PUBLIC_SUFFIX}"


def _public(path: Path) -> PublicKey | None:
    try:
        return keys.read_public(path.with_suffix(keys.PUBLIC_SUFFIX))
    except KeyTrouble:
        return None


def _key(path: Path) -> dict[str, object]:
    public = _public(path)
    return {
        "name": path.stem,
        "file": str(path),
        "id": public.id if public else None,
        "is_locked": keys.is_locked(path),
    }


def _signer(signer: Signer) -> dict[str, object]:
    purposes = [name for name, namespace in PURPOSES.items() if namespace in signer.namespaces]
    return {"name": signer.principal, "for": purposes, "id": signer.key.id}


def _lines(folder: Path, own: list[Path], signers: tuple[Signer, ...]) -> Iterator[str]:
    yield f"keys in {folder}:" if own else f"no keys in {folder}; `agent-fox keys new NAME` makes one"
    for path in own:
        public = _public(path)
        shut = "passphrase" if keys.is_locked(path) else "no passphrase"
        yield f"  {path.stem:<16}  {public.id if public else 'its public key is not here':<50}  {shut}"
    yield "trusted:" if signers else "nobody is trusted; `agent-fox keys trust NAME --for ledger` says who is"
    for signer in signers:
        purposes = ", ".join(name for name, namespace in PURPOSES.items() if namespace in signer.namespaces)
        yield f"  {signer.principal:<16}  {signer.key.id:<50}  {purposes or 'nothing'}"
