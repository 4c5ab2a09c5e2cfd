"""`python -m agent_fox.testing.github`: the fake GitHub as a process of its own. It prints its address, and serves."""

from __future__ import annotations

import argparse
import signal
import sys
import threading
from pathlib import Path

from agent_fox.testing.github.fake import LOGIN, REPOSITORY, TOKEN, GitHubFake
from agent_fox.testing.github.saving import load, save
from agent_fox.testing.github.server import serve

LONGEST_SECONDS = 3600.0


def main(arguments: list[str]) -> int:
    """Serve until a signal, or for `--seconds`; 1 and one line where that is impossible."""
    given = _parser().parse_args(arguments)
    try:
        fake = _fake(given.repository, given.token, given.login, given.state)
        with serve(fake, given.port, lambda: _keep(fake, given.state)) as url:
            _wait(url, given.url_file, given.seconds)
    except (OSError, ValueError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m agent_fox.testing.github", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="0 (the default) takes a free one")
    parser.add_argument("--repository", default=REPOSITORY, help=f"OWNER/NAME (default {REPOSITORY})")
    parser.add_argument("--token", default=TOKEN, help=f"the one token that is good (default {TOKEN})")
    parser.add_argument("--login", default=LOGIN, help=f"whose token that is (default {LOGIN})")
    parser.add_argument("--state", type=Path, help="keep the issues in this file, and begin with those in it")
    parser.add_argument("--url-file", type=Path, help="write the address there once it listens")
    parser.add_argument("--seconds", type=float, default=LONGEST_SECONDS, help="end after so long (default 3600)")
    return parser


def _fake(repository: str, token: str, login: str, state: Path | None) -> GitHubFake:
    fake = GitHubFake(repository=repository, token=token, login=login)
    if state is not None and state.exists():
        load(fake.world, state)
        fake.repository = fake.world.named(repository) or fake.repository
        fake.token.account = fake.world.account(login)
    return fake


def _keep(fake: GitHubFake, state: Path | None) -> None:
    if state is not None:
        with fake.lock:
            save(fake.world, state)


def _wait(url: str, url_file: Path | None, seconds: float) -> None:
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    if url_file is not None:
        url_file.write_text(url, encoding="utf-8")
    sys.stdout.write(f"{url}\n")
    sys.stdout.flush()
    stop.wait(seconds)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
