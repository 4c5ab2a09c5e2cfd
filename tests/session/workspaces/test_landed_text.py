"""Keys and conflict markers do not land, and a link that leads outside is named. Every key here is made up."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from agent_fox.session.order import EndKind, SessionEnd, StopSignal
from agent_fox.session.session_lifecycle import run_session
from tests.session.world import make_order, never_told, sh, shell, write

GITHUB = "ghp_" + "a1B2c3D4e5" * 4
PEM = "-----BEGIN PRIVATE KEY-----\n" + "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n" * 3 + "-----END PRIVATE KEY-----\n"
OTHER_PEM = PEM.replace("MIIEvQ", "MIIEvZ")
MARKERS = "a\n<<<<<<< HEAD\nb\n=======\nc\n>>>>>>> work\nd\n"


def run(repo: Path, files: Mapping[str, str | bytes], script: str = "true", **settings: str) -> SessionEnd:
    """A session whose agent writes these files, which lie ready outside of the workspace."""
    ready = repo.parent / "ready"
    ready.mkdir()
    for name, text in files.items():
        (ready / name).parent.mkdir(parents=True, exist_ok=True)
        (ready / name).write_bytes(text.encode() if isinstance(text, str) else text)
    write(repo, {".gitignore": "ignored/\n"})
    sh(repo, "git", "commit", "-qam", "a repository in which nobody thought of .env")
    order = make_order(repo, agent=shell(f"cp -r {ready}/. .; {script}"), **settings)
    return run_session(order, never_told, StopSignal())


def run_again(repo: Path, script: str) -> SessionEnd:
    return run_session(make_order(repo, agent=shell(script), launch="again"), never_told, StopSignal())


KEYS: dict[str, dict[str, str | bytes]] = {
    ".env:2": {".env": f"A=1\nGITHUB_TOKEN={GITHUB}\n"},
    "shop/.env:1": {"shop/.env": "STRIPE_SECRET_KEY=9f86d081884c7d659a2feaa0c55ad015\n"},
    "deploy/.env.production:1": {"deploy/.env.production": "export DB_PASSWORD='x8Kq2mLp0Zr7Vt4W'\n"},
    "src/client.py:2": {"src/client.py": f'x = 1\nTOKEN = "{GITHUB}"\n'},
    "server.pem:1": {"server.pem": PEM},
    "a/.env:1": {"a/.env": "DATABASE_URL=postgres://app:s3cr3tPassw0rd9@db.example.net/app\n"},
    "b/.env:1": {"b/.env": 'DB_PASSWORD="x8#Kq2mLp0Zr7Vt4W"\n'},
    "c/.env:2": {"c/.env": f"A=1\nGITHUB_TOKEN={GITHUB}\n".encode("utf-16")},
    "latest.env:1": {"latest.env": "DB_PASSWORD=x8Kq2mLp0Zr7Vt4W\n"},
    ".envrc:1": {".envrc": "export DB_PASSWORD=x8Kq2mLp0Zr7Vt4W\n"},
    ".aws/credentials:2": {".aws/credentials": "[default]\naws_secret_access_key = wJalrXUtnFEMIK7MDENGbPxRfiCYzQ4T\n"},
    ".netrc:1": {".netrc": "machine h login me password x8Kq2mLp0Zr7Vt4W\n"},
    ".npmrc:1": {".npmrc": "//registry.example.org/:_authToken=9f86d081-884c-7d65-9a2f-eaa0c55ad015\n"},
    "secrets.json:1": {"secrets.json": '{"port": 1, "token": "x8Kq2mLp0Zr7Vt4W"}\n'},
    "account.json:1": {"account.json": json.dumps({"private_key": PEM})},
    "made.bin:1": {"made.bin": f"\0{GITHUB}\0"},
}


def test_keys_are_found_in_files_of_every_kind(repo: Path) -> None:
    end = run(repo, {name: text for files in KEYS.values() for name, text in files.items()}, landed_text="note")
    assert [place for place in KEYS if not any(note.startswith(f"{place} ") for note in end.notes)] == []


def test_the_first_places_of_keys_are_told_where_they_refuse_the_work(repo: Path) -> None:
    end = run(repo, {name: text for place in [*KEYS][:5] for name, text in KEYS[place].items()})
    assert end.kind is EndKind.REFUSED
    assert [place for place in [*KEYS][:5] if f"{place} " not in end.reason] == []
    assert end.reason.endswith("; take it out, and read keys from the environment")
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
    "config/.env": "DATABASE_URL=postgres://app:postgres@localhost/app\n# OLD_PASSWORD=x8Kq2mLp0Zr7Vt4W\n",
    "src/pem.py": 'def is_key(text):\n    return text.startswith("-----BEGIN PRIVATE KEY-----")\n',
    "docs/sides.md": "<<<<<<< HEAD\nb\n=======\nis how a conflict begins\n",
    "src/rest.rst": "Session\n=======\n\n>>>>>>>\n",
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


@pytest.mark.parametrize("before", [PEM, ""])
def test_another_private_key_in_the_place_of_an_old_one_is_the_coders(repo: Path, before: str) -> None:
    write(repo, {"server.pem": PEM})
    sh(repo, "git", "add", "-A")
    sh(repo, "git", "commit", "-qm", "a key of ours")
    end = run(repo, {"server.pem": f"{before}{OTHER_PEM}"})
    assert end.kind is EndKind.REFUSED
    assert f"server.pem:{len(before.splitlines()) + 1} is a private key" in end.reason


def test_a_key_that_only_moves_with_its_file_is_not_the_coders(repo: Path) -> None:
    write(repo, {"src/client.py": f'TOKEN = "{GITHUB}"\n', "server.pem": PEM})
    sh(repo, "git", "add", "-A")
    sh(repo, "git", "commit", "-qm", "keys of ours")
    end = run(repo, {}, "git mv src/client.py src/http.py; git mv server.pem tls.pem")
    assert end.kind is EndKind.ENDED, end.reason
    assert run_again(repo, f"echo '{GITHUB}' > copied.txt").kind is EndKind.REFUSED


def test_a_store_of_keys_is_named(repo: Path) -> None:
    end = run(repo, {"android/release.jks": "\xfe\xed"})
    assert end.kind is EndKind.ENDED, end.reason
    assert "android/release.jks:1 is a store of keys, which nobody can read here" in end.notes


CONFLICTS = {
    "whole": (MARKERS, 2),
    "its beginning is gone": ("b\n=======\nc\n>>>>>>> work\nd\n", 2),
    "its end is gone": ("a\n<<<<<<< HEAD\nb\n=======\nc\n", 2),
    "its middle is gone": ("a\n<<<<<<< HEAD\nb\n>>>>>>> work\nc\n", 2),
    "only its beginning is left": ("a\n<<<<<<< HEAD\nb\n", 2),
    "only its end is left": ("a\nb\nc\n>>>>>>> work\n", 4),
    "the second of two": (f"x\n{MARKERS.replace('HEAD', 'ours')}", 3),
}


@pytest.mark.parametrize("kind", CONFLICTS)
def test_conflict_markers_refuse_the_work_and_their_place_is_told(repo: Path, kind: str) -> None:
    text, line = CONFLICTS[kind]
    end = run(repo, {"src/app.py": text})
    assert end.kind is EndKind.REFUSED
    assert end.reason == f"may not land: src/app.py:{line} is a conflict marker; take it out, and finish the merge"


def test_a_second_conflict_in_a_file_that_has_one_is_the_coders(repo: Path) -> None:
    write(repo, {"docs/conflicts.md": MARKERS})
    sh(repo, "git", "add", "-A")
    sh(repo, "git", "commit", "-qm", "how a conflict looks")
    end = run(repo, {"docs/conflicts.md": MARKERS + MARKERS.replace("b\n", "bb\n")})
    assert "docs/conflicts.md:9 is a conflict marker" in end.reason


def test_what_may_be_half_a_conflict_in_prose_is_named(repo: Path) -> None:
    end = run(repo, {"docs/sides.md": str(LOOK_ALIKES["docs/sides.md"])})
    assert "docs/sides.md:1 looks like a conflict marker" in end.notes


def test_markers_that_stood_there_before_are_not_the_coders(repo: Path) -> None:
    write(repo, {"docs/conflicts.md": MARKERS})
    sh(repo, "git", "add", "-A")
    sh(repo, "git", "commit", "-qm", "how a conflict looks")
    end = run(repo, {"docs/conflicts.md": f"{MARKERS}More.\n"})
    assert end.kind is EndKind.ENDED, end.reason


def test_a_link_that_leads_outside_is_named(repo: Path) -> None:
    end = run(
        repo,
        {"a.txt": "x\n"},
        "ln -s /etc/hostname host; ln -s ../../up up; mkdir -p d; ln -s ../a.txt d/ok; ln -s .git/config g",
    )
    assert end.kind is EndKind.ENDED, end.reason
    assert "links lead outside of the repository: g -> .git/config, host -> /etc/hostname, up -> ../../up" in end.notes


def test_a_person_can_let_them_land(repo: Path) -> None:
    end = run(repo, {"src/client.py": f'TOKEN = "{GITHUB}"\n', "src/app.py": MARKERS}, landed_text="note")
    assert end.kind is EndKind.ENDED, end.reason
    assert any("src/client.py:1 holds a key" in note for note in end.notes)
