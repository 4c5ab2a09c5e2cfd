"""`agent-fox report`: the run as one HTML file that needs no network, or as its document."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

import click

from agent_fox.cli.errors import UserError
from agent_fox.cli.page.whole import whole_run
from agent_fox.cli.place import here
from agent_fox.cli.screen import json_option, print_json
from agent_fox.core.words import counted
from agent_fox.system.files import replace_file
from agent_fox.system.redaction.masking import secret_values
from agent_fox.system.state_folders import REPORT
from agent_fox.web.page import MOST_TEXT, page


@click.command(
    "report", short_help="Write the run as one HTML page: what is proven, what needs you, why, what it cost."
)
@click.option("--run", "number", type=click.IntRange(1), metavar="N", help="The run. Unset: the last.")
@click.option(
    "-o", "--output", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
    help=f"Where to write it. Unset: {REPORT}.",
)  # fmt: skip
@json_option
def command(number: int | None, output: Path | None, as_json: bool) -> None:
    """Write the run as one HTML file that loads nothing from anywhere: it can be mailed, and opened anywhere.

    What is too much is left out, logs first, and the page says how much. With --json the whole document is printed,
    and no file is written.
    """
    root = here()
    if as_json:
        print_json(whole_run(root, number=number).document())
        return
    whole = whole_run(root, number=number, most=MOST_TEXT)
    text = page(whole, secrets=secret_values(os.environ))
    path = output or root / REPORT
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if output is None:
            replace_file(path, text)  # a link that was planted at its place is not followed
        else:
            path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UserError(f"{path}: cannot be written: {error.strerror}; name another file with --output") from None
    shown = path
    with suppress(ValueError):
        shown = path.resolve().relative_to(Path.cwd())
    click.echo(f"{whole.overview.banner.answer}: {whole.overview.banner.because}")
    for cut in whole.cuts:
        click.echo(f"left out for the size of the page: {counted(cut.count, cut.what.removesuffix('s'))}")
    click.echo(f"report: {shown} (open it in a browser: {path.resolve().as_uri()})")
