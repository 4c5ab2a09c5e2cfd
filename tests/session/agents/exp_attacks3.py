"""experiments"""
from tests.session.agents.attacker import *
from agent_fox.session.order import Provisions, Paths
from tests.session.world import sh, write
import time, socket, os, threading
def test_setup(tmp_path, monkeypatch):
    scene = set_scene(tmp_path, monkeypatch)
    write(scene.repo, {"setup.sh": 'cat "$HOME/.ssh/id_ed25519" > stolen.txt; env | grep -c "^MY_KEY=" >> stolen.txt; echo x > "$HOME/owned"\n'})
    sh(scene.repo, "git","add","-Af"); sh(scene.repo,"git","commit","-qm","by a coder")
    done = scene.attack('''
found["stolen"] = (WORKSPACE / "stolen.txt").read_text()
result()
''', sandbox="require", workspace=Provisions(setup=("sh setup.sh",)), environment={"MY_KEY": "k"})
    print("SETUP", done.end.kind, done.end.reason, done.found, (scene.person/"owned").exists())
def test_abstract(tmp_path, monkeypatch):
    scene = set_scene(tmp_path, monkeypatch)
    s = socket.socket(socket.AF_UNIX); s.bind("\0atk-test-abstract"); s.listen()
    done = scene.attack('''
found["abstract"] = attempt(lambda: socket.socket(socket.AF_UNIX).connect("\\0atk-test-abstract"))
found["seen"] = "atk-test-abstract" in Path("/proc/net/unix").read_text()
found["limits"] = Path("/proc/self/limits").read_text()
import shutil
found["disk"] = {p: shutil.disk_usage(p).free >> 30 for p in (str(HOME), str(WORKSPACE), "/dev/shm", "/dev", "/tmp")}
found["dev_write"] = attempt(lambda: Path("/dev/x").write_text("x"))
result()
''', sandbox="require")
    print("ABSTRACT", done.found)
def test_program_in_root(tmp_path, monkeypatch):
    scene = set_scene(tmp_path, monkeypatch)
    p = scene.program("x", '''
found["db"] = attempt(lambda: open(GIVEN["db"]).read())
result()
''', {"db": str(scene.repo / ".agent-fox/state.db")})
    (scene.repo/"claude").write_bytes(p.read_bytes()); (scene.repo/"claude").chmod(0o755)
    from agent_fox.session.session_lifecycle import run_session; from agent_fox.session.order import StopSignal; from agent_fox.session.agents.backend import AgentBackend; from tests.session.world import never_told; import json
    order = scene.order(scene.repo/"claude", launch="l1", sandbox="require"); end = run_session(order, never_told, StopSignal(), {"claude": AgentBackend("claude")}); print("INROOT", end.kind, end.reason, (order.state/"agent/home/found.json").read_text())
