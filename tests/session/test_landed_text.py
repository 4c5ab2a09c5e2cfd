"""Keys and conflict markers do not land, and a link that leads outside is named. Every key here is made up."""

from __future__ import annotations

from pathlib import Path

from agent_fox.session.order import EndKind, SessionEnd, StopSignal
from agent_fox.session.session_lifecycle import run_session
from tests.session.world import make_order, never_told, sh, shell, write

GITHUB = "ghp_" + "a1B2c3D4e5" * 4
PEM = "-----BEGIN PRIVATE KEY-----\n" + "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n" * 3 + "-----END PRIVATE KEY-----\n"
MARKERS = "a\n<<<<<<< HEAD\nb\n=======\nc\n>>>>>>> work\nd\n"


def run(repo: Path, files: dict[str, str], script: str = "true", **settings: str) -> SessionEnd:
    """A session whose agent writes these files, which lie ready outside of the workspace."""
    ready = repo.parent / "ready"
    write(ready, files)
    write(repo, {".gitignore": "ignored/\n"})
    sh(repo, "git", "commit", "-qam", "a repository in which nobody thought of .env")
    order = make_order(repo, agent=shell(f"cp -r {ready}/. .; {script}"), **settings)
    return run_session(order, never_told, StopSignal())


KEYS = {
    ".env:2": {".env": f"A=1\nGITHUB_TOKEN={GITHUB}\n"},
    "shop/.env:1": {"shop/.env": "STRIPE_SECRET_KEY=9f86d081884c7d659a2feaa0c55ad015\n"},
    "deploy/.env.production:1": {"deploy/.env.production": "export DB_PASSWORD='x8Kq2mLp0Zr7Vt4W'\n"},
    "src/client.py:2": {"src/client.py": f'x = 1\nTOKEN = "{GITHUB}"\n'},
    "server.pem:1": {"server.pem": PEM},
}


def test_keys_refuse_the_work_and_their_places_are_told(repo: Path) -> None:
    end = run(repo, {name: text for files in KEYS.values() for name, text in files.items()})
    assert end.kind is EndKind.REFUSED
    assert [place for place in KEYS if place not in end.reason] == []
    assert "ghp_" not in end.reason
    assert "x8Kq2" not in end.reason


LOOK_ALIKES = {
    ".env.example": "GITHUB_TOKEN=ghp_yourtokenhere\nDB_PASSWORD=change-me-please-now\n",
    ".env": "PORT=8080\nSECRET_KEY=${SECRET_KEY}\nAPI_TOKEN=\nDB_PASSWORD=changeme\n",
    "src/client.py": 'TOKEN = os.environ["GITHUB_TOKEN"]\n',
    "docs/use.md": "export GITHUB_TOKEN=ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n",
    "docs/aws.md": "AKIAIOSFODNN7EXAMPLE\n",
    "readme.rst": "Title\n=======\n\nPart\n=======\n",
    "src/merge.py": 'MARKS = ["<<<<<<< ", "=======", ">>>>>>> "]\n',
    "docs/half.md": "<<<<<<< is how a conflict begins\n",
    "blob.bin": "\x00<<<<<<< HEAD\n=======\n>>>>>>> x\n",
}


def test_what_only_looks_like_it_lands(repo: Path) -> None:
    end = run(repo, LOOK_ALIKES)
    assert end.kind is EndKind.ENDED, end.reason
    assert end.work is not None
    assert sorted(sh(repo, "git", "diff", "--name-only", "HEAD", end.work.commit).splitlines()) == sorted(LOOK_ALIKES)


def test_a_key_for_tests_lands_and_is_named(repo: Path) -> None:
    end = run(repo, {"tests/data/server.pem": PEM})
    assert end.kind is EndKind.ENDED, end.reason
    assert any("tests/data/server.pem:1 is a private key" in note for note in end.notes)


def test_a_key_that_was_committed_by_a_person_is_not_the_coders(repo: Path) -> None:
    write(repo, {"src/client.py": f'TOKEN = "{GITHUB}"\n'})
    sh(repo, "git", "add", "-A")
    sh(repo, "git", "commit", "-qm", "a token of ours")
    end = run(repo, {"src/client.py": f'# the client\nTOKEN = "{GITHUB}"\n'})
    assert end.kind is EndKind.ENDED, end.reason


def test_conflict_markers_refuse_the_work_and_their_place_is_told(repo: Path) -> None:
    end = run(repo, {"src/app.py": MARKERS})
    assert end.kind is EndKind.REFUSED
    assert "src/app.py:2" in end.reason


def test_markers_that_stood_there_before_are_not_the_coders(repo: Path) -> None:
    write(repo, {"docs/conflicts.md": MARKERS})
    sh(repo, "git", "add", "-A")
    sh(repo, "git", "commit", "-qm", "how a conflict looks")
    end = run(repo, {"docs/conflicts.md": f"{MARKERS}More.\n"})
    assert end.kind is EndKind.ENDED, end.reason


def test_a_link_that_leads_outside_is_named(repo: Path) -> None:
    end = run(repo, {"a.txt": "x\n"}, "ln -s /etc/hostname host; ln -s ../../up up; mkdir -p d; ln -s ../a.txt d/ok")
    assert end.kind is EndKind.ENDED, end.reason
    assert "links lead outside of the repository: host -> /etc/hostname, up -> ../../up" in end.notes


def test_a_person_can_let_them_land(repo: Path) -> None:
    end = run(repo, {"src/client.py": f'TOKEN = "{GITHUB}"\n', "src/app.py": MARKERS}, landed_text="note")
    assert end.kind is EndKind.ENDED, end.reason
    assert any("src/client.py:1 holds a key" in note for note in end.notes)
