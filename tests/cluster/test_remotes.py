"""A launch's history by way of a git remote: under the launch's own references alone, and nothing that was moved."""

from __future__ import annotations

import http.server
import os
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from agent_fox.cluster import deliveries, parcels, remotes
from agent_fox.cluster.engine import EngineError, remote_of
from agent_fox.cluster.messages import read_delivery, read_parcel, written
from agent_fox.cluster.packs import NOTHING, Unusable
from agent_fox.cluster.parcels import Bench, Parcel
from agent_fox.config import ClusterSettings
from agent_fox.session.order import EndKind, LaunchOrder, StopSignal
from agent_fox.session.session_lifecycle import run_session
from agent_fox.system import git
from agent_fox.testing.cluster import Cluster, free_port, runner_at
from agent_fox.testing.runners import Stage
from agent_fox.testing.worlds import Req, World, rows, run_cli
from tests.cluster.sshd import WHY_NOT, ssh_host
from tests.cluster.test_parcels import Shelf
from tests.cluster.test_run import end_state, run_there
from tests.session.world import make_order, make_repo, never_told, sh, shell


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    sh(tmp_path, "git", "init", "-q", "--bare", "bare.git")
    return tmp_path / "bare.git"


@pytest.fixture
def order(tmp_path: Path) -> LaunchOrder:
    return make_order(make_repo(tmp_path / "repo"), agent=shell("echo two > src/app.py"))


def refs(repo: Path) -> dict[str, str]:
    lines = sh(repo, "git", "for-each-ref", "--format=%(refname) %(objectname)").splitlines()
    return dict(line.split() for line in lines)


def sent(order: LaunchOrder, shelf: Shelf, url: str) -> Parcel:
    return read_parcel(written(parcels.made(order, "1", shelf.put, lambda head: NOTHING, {}, url)))


def delivered(order: LaunchOrder, shelf: Shelf, url: str, folder: Path, back: str | None = None) -> deliveries.Delivery:
    """What a worker makes of an order; `back`: where it pushes to, if not where it fetched from."""
    bench = Bench(folder / "d1", folder / "lasting")
    own = parcels.opened(sent(order, shelf, url), bench, 1, shelf.get)
    end = run_session(own, never_told, StopSignal())
    packed = deliveries.packed(end, own, bench, 1, "w", "1", shelf.put, back or url, order.launch)
    return read_delivery(written(packed))


def test_order_and_work_travel_by_the_remote_under_their_launch_and_nothing_stays(
    order: LaunchOrder, bare: Path, tmp_path: Path
) -> None:
    shelf, url = Shelf(), bare.as_uri()
    sh(order.repo, "git", "push", "-q", url, "HEAD:refs/heads/main")
    before = refs(bare)
    delivery = delivered(order, shelf, url, tmp_path / "worker")
    assert delivery.is_pushed
    assert delivery.objects.size == 0
    below = f"refs/agent-fox/cluster/{order.launch}"
    new = {name: id for name, id in refs(bare).items() if name not in before}
    assert all(name.startswith((f"{below}/in/", f"{below}/d1/")) and name.endswith(id) for name, id in new.items())
    here = refs(order.repo)
    end = deliveries.taken(delivery, order, None, shelf.get, "", url)
    assert end.kind is EndKind.ENDED, end.reason
    assert end.work is not None
    assert git.show(order.repo, end.work.commit, "src/app.py") == b"two\n"
    assert set(refs(order.repo)) - set(here) == {f"refs/agent-fox/launches/{order.launch}"}
    assert remotes.left(url, order.launch) == tuple(sorted(new))
    remotes.remove(order.repo, url, order.launch)
    assert refs(bare) == before


def test_a_history_is_fetched_once_to_a_worker_and_then_what_it_lacks(
    order: LaunchOrder, bare: Path, tmp_path: Path
) -> None:
    shelf, lasting = Shelf(), tmp_path / "worker" / "lasting"
    parcel = sent(order, shelf, bare.as_uri())
    parcels.opened(parcel, Bench(tmp_path / "worker" / "d1", lasting), 1, shelf.get)
    assert [folder.name for folder in lasting.iterdir()] == [parcel.head]
    (ref,) = (name for name in refs(bare) if name.endswith(parcel.head))
    sh(bare, "git", "update-ref", "-d", ref)
    own = parcels.opened(replace(parcel, ids=()), Bench(tmp_path / "worker" / "d2", lasting), 2, shelf.get)
    assert git.commit_of(own.repo, parcel.head) == parcel.head


@pytest.mark.parametrize("is_gone", [False, True])
def test_a_reference_that_somebody_moved_is_refused_by_its_name(
    order: LaunchOrder, bare: Path, tmp_path: Path, is_gone: bool
) -> None:
    shelf = Shelf()
    parcel = sent(order, shelf, bare.as_uri())
    (ref,) = (name for name in refs(bare) if name.endswith(parcel.head))
    other = sh(order.repo, "git", "commit-tree", "-m", "other", "-p", parcel.head, f"{parcel.head}^{{tree}}")
    sh(order.repo, "git", "push", "-q", bare.as_uri(), f"{other}:refs/heads/other")
    sh(bare, "git", "update-ref", *(("-d", ref) if is_gone else (ref, other)))
    with pytest.raises(Unusable, match=ref) as caught:
        parcels.opened(parcel, Bench(tmp_path / "worker" / "d1", tmp_path / "worker" / "lasting"), 1, shelf.get)
    assert is_gone or f"stands at {other[:12]}: somebody moved it" in str(caught.value)
    assert is_gone or f"{parcel.head}:" not in str(caught.value)


def test_work_that_was_moved_at_the_remote_is_not_taken(order: LaunchOrder, bare: Path, tmp_path: Path) -> None:
    shelf, url = Shelf(), bare.as_uri()
    delivery = delivered(order, shelf, url, tmp_path / "worker")
    (ref,) = (name for name in refs(bare) if "/d1/" in name)
    here = refs(order.repo)
    sh(bare, "git", "update-ref", ref, order.pinned)
    with pytest.raises(Unusable, match="somebody moved it"):
        deliveries.taken(delivery, order, None, shelf.get, "", url)
    assert refs(order.repo) == here
    with pytest.raises(Unusable, match="none is named"):
        deliveries.taken(delivery, order, None, shelf.get)


def refusing(bare: Path) -> None:
    hook = bare / "hooks" / "pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)


def test_a_remote_that_refuses_the_order_is_named_and_one_that_refuses_the_work_loses_none(
    order: LaunchOrder, bare: Path, tmp_path: Path
) -> None:
    shelf, closed = Shelf(), tmp_path / "closed.git"
    sh(tmp_path, "git", "init", "-q", "--bare", closed.name)
    refusing(closed)
    with pytest.raises(git.GitError, match=r"closed\.git does not take what is sent.*pre-receive hook declined"):
        sent(order, shelf, closed.as_uri())
    delivery = delivered(order, shelf, bare.as_uri(), tmp_path / "worker", back=closed.as_uri())
    assert not delivery.is_pushed
    assert "pre-receive hook declined" in delivery.not_pushed
    assert deliveries.taken(delivery, order, None, shelf.get).work is not None


def test_a_remote_that_is_not_there_is_said_to_be_away(order: LaunchOrder) -> None:
    url = f"http://127.0.0.1:{free_port()}/none.git"
    with pytest.raises(remotes.RemoteAway, match=r"does not answer.*(Couldn't|Failed to) connect"):
        sent(order, Shelf(), url)


@pytest.mark.parametrize(
    "url",
    [
        "https://ada:secret@far.example/x.git", "https://token@far.example/x.git", "ssh://ada:secret@far.example/x.git",
        "ext::sh -c touch", "--upload-pack=touch", "-u", "git://far.example/x.git", "ssh://-oProxyCommand=touch/x",
        "relative/path", "http://far.example/x.git", "https://far.example/x\n.git", "fd::17",
    ],
)  # fmt: skip
def test_an_address_with_a_key_in_it_or_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(EngineError) as caught:
        remote_of(ClusterSettings(remote=url))
    assert "secret" not in str(caught.value)
    assert "token" not in str(caught.value)


@pytest.mark.parametrize("url", ["https://far.example/x.git", "ssh://ada@far.example:2222/x", "ada@far.example:x.git",
                                 "file:///srv/x.git", "/srv/x.git", "http://127.0.0.1:80/x"])  # fmt: skip
def test_an_address_that_git_takes_is_taken(url: str) -> None:
    assert remote_of(ClusterSettings(remote=url)) == url


@pytest.mark.parametrize("launch", ["a:refs/heads/main", "../x", "a/b", "*", "+a", "-a", "a..b", ""])
def test_no_name_of_a_launch_leads_to_other_references(launch: str) -> None:
    with pytest.raises(Unusable, match="no launch"):
        remotes.ref_of(launch, remotes.SENT, "0" * 40)


class Http(http.server.CGIHTTPRequestHandler):
    """Git's own program behind HTTP."""

    have_fork = False

    def is_cgi(self) -> bool:
        path, _, query = self.path.partition("?")
        self.cgi_info = ("", f"git-http-backend{path}" + (f"?{query}" if query else ""))
        return True

    def log_message(self, *words: object) -> None: ...


@pytest.fixture
def over_http(bare: Path, tmp_path: Path) -> Iterator[str]:
    sh(bare, "git", "config", "http.receivepack", "true")
    core = subprocess.run(["git", "--exec-path"], capture_output=True, text=True, check=True).stdout.strip()
    (tmp_path / "cgi").mkdir()
    (tmp_path / "cgi" / "git-http-backend").symlink_to(f"{core}/git-http-backend")
    os.environ |= {"GIT_PROJECT_ROOT": str(tmp_path), "GIT_HTTP_EXPORT_ALL": "1"}
    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), lambda *words: Http(*words, directory=str(tmp_path / "cgi"))
    )
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/bare.git"
    server.shutdown()
    server.server_close()
    del os.environ["GIT_PROJECT_ROOT"], os.environ["GIT_HTTP_EXPORT_ALL"]


@pytest.fixture
def over_ssh(bare: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """OpenSSH's own server on loopback, reached with a key and a known host by the `ssh` that stands first on PATH."""
    if WHY_NOT:
        pytest.skip(WHY_NOT)
    with ssh_host(tmp_path / "host") as host:
        monkeypatch.setenv("PATH", host.variables()["PATH"])
        yield f"ssh://{host.address}{bare}"


@pytest.mark.parametrize("by", ["over_http", "over_ssh"])
def test_the_same_over_http_and_ssh(
    order: LaunchOrder, by: str, request: pytest.FixtureRequest, bare: Path, tmp_path: Path
) -> None:
    shelf, url = Shelf(), request.getfixturevalue(by)
    delivery = delivered(order, shelf, url, tmp_path / "worker")
    assert delivery.is_pushed, delivery.not_pushed
    assert deliveries.taken(delivery, order, None, shelf.get, "", url).work is not None
    remotes.remove(order.repo, url, order.launch)
    assert refs(bare) == {}


def test_a_host_whose_key_is_another_is_not_believed(order: LaunchOrder, over_ssh: str, tmp_path: Path) -> None:
    known = tmp_path / "host" / "known"
    name, kind, _ = known.read_text().split()
    other = (tmp_path / "host" / "user.pub").read_text().split()[1]
    known.write_text(f"{name} {kind} {other}\n")
    with pytest.raises(git.GitError, match=r"does not take what is sent: Host key verification failed.*HAS CHANGED!"):
        sent(order, Shelf(), over_ssh)


def test_a_fail_is_repaired_and_proven_by_way_of_a_remote_and_nothing_stays_there(
    shared: Cluster, bare: Path, tmp_path: Path
) -> None:
    story = World({"01_a": [Req("01-REQ-1.1"), Req("01-REQ-1.2", right_at=2)]})
    here, there = story.build(tmp_path / "here"), story.build(tmp_path / "there")
    assert run_cli(here, "run").returncode == 0
    with (there / ".agent-fox" / "config.toml").open("a") as file:
        file.write(f'\n[cluster]\nremote = "{bare.as_uri()}"\n')
    code, said = run_there(there, shared)
    assert code == 0, said + shared.logs()
    assert end_state(there) == end_state(here)
    assert refs(bare) == {}
    assert sh(bare, "git", "count-objects").split()[0] != "0" or list(bare.glob("objects/pack/*.pack"))


def test_a_remote_that_is_away_pauses_a_run_and_the_next_one_goes_on(
    shared: Cluster, bare: Path, tmp_path: Path
) -> None:
    settings = f'[infrastructure]\npatience = 1.0\n[cluster]\nremote = "http://127.0.0.1:{free_port()}/x.git"\n'
    root = World({"01_a": [Req("01-REQ-1.1")]}, settings=settings).build(tmp_path / "world")
    code, said = run_there(root, shared)
    assert code == 4, said
    assert "waiting for it" in said
    assert "run again when the remote answers" in said
    assert rows(root, "SELECT status FROM launches") == [("running",)]
    variables = {**shared.variables(), "AGENT_FOX__CLUSTER__REMOTE": bare.as_uri()}
    done = run_cli(root, "run", "--engine", shared.address, **variables)  # type: ignore[arg-type]
    assert done.returncode == 0, done.stdout + done.stderr + shared.logs()
    assert rows(root, "SELECT count(*), count(DISTINCT session_id) FROM launches") == [(2, 2)]
    assert refs(bare) == {}


def test_what_comes_too_late_is_fetched_kept_and_removed_there(order: LaunchOrder, bare: Path, tmp_path: Path) -> None:
    shelf, url = Shelf(), bare.as_uri()
    delivery = delivered(order, shelf, url, tmp_path / "worker")
    told = deliveries.keep_late(delivery, order, shelf.get, url)
    ref = f"refs/agent-fox/late/{order.launch}/d1"
    assert ref in told
    assert git.commit_of(order.repo, ref) is not None


def test_doctor_says_whether_the_remote_answers_and_what_stands_there(
    shared: Cluster, bare: Path, order: LaunchOrder, tmp_path: Path
) -> None:
    root = World({"01_a": [Req("01-REQ-1.1")]}).build(tmp_path / "world")
    remotes.send(order.repo, bare.as_uri(), "gone", remotes.SENT, [order.pinned])
    done = run_cli(root, "doctor", "--engine", shared.address, AGENT_FOX__CLUSTER__REMOTE=bare.as_uri())
    assert "answers; 1 reference of launches below refs/agent-fox/cluster/" in done.stdout
    away = f"http://127.0.0.1:{free_port()}/x.git"
    done = run_cli(root, "doctor", "--engine", shared.address, AGENT_FOX__CLUSTER__REMOTE=away)
    assert "does not answer" in done.stdout


def test_a_launch_over_a_remote_leaves_nothing_there_when_it_is_cleaned_up(
    shared: Cluster, bare: Path, tmp_path: Path
) -> None:
    stage, runner = Stage.made(tmp_path), runner_at(shared.address)
    runner.remote = bare.as_uri()
    order = stage.order("echo x > new.txt", f"{tmp_path.name}-remote")
    end = runner.collect(runner.start(order))
    assert end.work is not None, end.reason
    assert any("/d1/" in name for name in refs(bare))
    runner.clean_up(order)
    assert refs(bare) == {}
