"""Git in memory: objects as git has them, references, merges file by file. What the engine does not ask is not here.

It answers in place of the program (`agent_fox.system.git` starts it in one place); a test holds its answers against
the real program's.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TypeVar

from agent_fox.system import git, programs

T = TypeVar("T")
FOLDER = "40000"
FILE = "100644"
SPACE = "\n\n"
REFUSED = 128
"""The exit status with which git says that something is not as it was asked for."""
Files = Mapping[str, bytes]


def object_id(kind: str, content: bytes) -> str:
    return hashlib.sha1(b"%s %d\0%s" % (kind.encode(), len(content), content), usedforsecurity=False).hexdigest()


@dataclass
class MadeGit:
    """One repository. `step` is called before anything is answered; what it raises, or gives, stands for the answer."""

    objects: dict[str, tuple[str, bytes]] = field(default_factory=dict)
    refs: dict[str, str] = field(default_factory=dict)
    head: str = "refs/heads/main"
    step: Callable[[str], git.Answer | None] = lambda what: None

    # Objects

    def add(self, kind: str, content: bytes) -> str:
        id = object_id(kind, content)
        self.objects[id] = (kind, content)
        return id

    def tree(self, files: Files) -> str:
        """The id of a tree with these files."""
        inner: dict[str, dict[str, bytes]] = {}
        entries: list[tuple[bytes, bytes]] = []
        for path, content in files.items():
            first, slash, rest = path.partition("/")
            if slash:
                inner.setdefault(first, {})[rest] = content
            else:
                entries.append((first.encode(), self._entry(FILE, first, self.add("blob", content))))
        entries += [(f"{name}/".encode(), self._entry(FOLDER, name, self.tree(own))) for name, own in inner.items()]
        return self.add("tree", b"".join(entry for _, entry in sorted(entries)))

    @staticmethod
    def _entry(mode: str, name: str, id: str) -> bytes:
        return f"{mode} {name}\0".encode() + bytes.fromhex(id)

    def files(self, name: str) -> dict[str, bytes]:
        """What a commit or tree holds."""
        found: dict[str, bytes] = {}
        for mode, path, id in self._entries(self.resolve(f"{name}^{{tree}}") or ""):
            if mode == FOLDER:
                found |= {f"{path}/{inner}": content for inner, content in self.files(id).items()}
            else:
                found[path] = self.objects[id][1]
        return found

    def _entries(self, tree: str) -> Iterator[tuple[str, str, str]]:
        content = self.objects[tree][1]
        while content:
            head, _, rest = content.partition(b"\0")
            mode, _, name = head.decode().partition(" ")
            yield mode, name, rest[:20].hex()
            content = rest[20:]

    def commit(self, tree: str, parents: Sequence[str], message: str, at: str = "1 +0000") -> str:
        lines = [f"tree {tree}", *(f"parent {parent}" for parent in parents)]
        who = f"made <made@localhost> {at}"
        text = "\n".join([*lines, f"author {who}", f"committer {who}", "", message])
        return self.add("commit", (text if text.endswith("\n") else f"{text}\n").encode())

    def parents(self, commit: str) -> list[str]:
        lines = self.objects[commit][1].decode().partition("\n\n")[0].split("\n")
        return [line.removeprefix("parent ") for line in lines if line.startswith("parent ")]

    def resolve(self, name: str) -> str | None:
        """The id that a name stands for: of a reference, an id, `NAME^{KIND}`, `NAME:PATH`."""
        if ":" in name:
            base, _, path = name.partition(":")
            return self._below(self.resolve(f"{base}^{{tree}}"), path)
        base, caret, kind = name.partition("^{")
        id = self.refs.get(self.head) if base == "HEAD" else self.refs.get(base) or self.refs.get(f"refs/heads/{base}")
        id = id or (base if base in self.objects else None)
        if id is None or not caret:
            return id
        is_kind = self.objects[id][0]
        if kind == "tree}" and is_kind == "commit":
            return self.objects[id][1].decode().split("\n")[0].removeprefix("tree ")
        return id if f"{is_kind}}}" == kind else None

    def _below(self, tree: str | None, path: str) -> str | None:
        for part in path.split("/"):
            if tree is None or self.objects[tree][0] != "tree":
                return None
            tree = next((id for _, name, id in self._entries(tree) if name == part), None)
        return tree

    def ancestors(self, commit: str) -> list[str]:
        """It and all that it contains, nearest first."""
        seen, waiting = [commit], [commit]
        while waiting:
            for parent in self.parents(waiting.pop(0)):
                if parent not in seen:
                    seen.append(parent)
                    waiting.append(parent)
        return seen

    def merge_base(self, one: str, other: str) -> str | None:
        """The first common one that no other common one contains."""
        theirs = set(self.ancestors(other))
        common = [commit for commit in self.ancestors(one) if commit in theirs]
        best = [c for c in common if not any(c != o and c in self.ancestors(o) for o in common)]
        return best[0] if best else None

    def merge(self, ours: str, theirs: str) -> tuple[str, list[str]]:
        """The tree, and the files that both changed, each in its own way."""
        base = self.merge_base(ours, theirs)
        before, mine, others = (self.files(name) if name else {} for name in (base, ours, theirs))
        merged, conflicts = {}, []
        for path in sorted({*before, *mine, *others}):
            was, own, other = before.get(path), mine.get(path), others.get(path)
            if own != other and own != was and other != was:
                conflicts.append(path)
            chosen = other if own == was else own
            if chosen is not None:
                merged[path] = chosen
        return self.tree(merged), conflicts

    # What the program is asked

    def call_once(
        self, where: Path, argv: list[str], extra: Mapping[str, str] | None, data: bytes | None, allowed: Sequence[int]
    ) -> git.Answer:
        """In place of `agent_fox.system.git._call_once`."""
        words = argv[1:]
        while words[0] in ("-c", "--literal-pathspecs"):
            words = words[2 if words[0] == "-c" else 1 :]
        instead = self.step(" ".join(words[:3]))
        if instead is not None:
            return instead
        verb = getattr(self, f"_{words[0].lstrip('-').replace('-', '_')}", None)
        if verb is None:
            raise NotImplementedError(f"git {' '.join(words)} in {where}")
        status, out = verb(words[1:], data or b"", Path((extra or {}).get("GIT_DIR", where)))
        refusal = "is at another place but expected" if words[0] == "update-ref" else "Not a valid object name"
        complaint = f"fatal: {refusal}" if status == REFUSED else ""
        return git.Answer(status, out, complaint, git.trouble_in(status, complaint, allowed))

    def _version(self, words: list[str], data: bytes, where: Path) -> tuple[int, bytes]:
        return 0, b"git version 2.43.0\n"

    def _rev_parse(self, words: list[str], data: bytes, where: Path) -> tuple[int, bytes]:
        assert words == ["--show-toplevel"], words
        return 0, f"{where}\n".encode()

    def _cat_file(self, words: list[str], data: bytes, where: Path) -> tuple[int, bytes]:
        answers = []
        for request in data.decode().split("\0")[:-1]:
            command, _, name = request.partition(" ")
            id = self.resolve(name)
            if id is None:
                answers.append(f"{name} missing\n".encode())
                continue
            kind, content = self.objects[id]
            whole = content + b"\n" if command == "contents" else b""
            answers.append(f"{id} {kind} {len(content)}\n".encode() + whole)
        return 0, b"".join(answers)

    def _update_ref(self, words: list[str], data: bytes, where: Path) -> tuple[int, bytes]:
        words = [word for word in words if word not in ("--no-deref", "-z")]
        if words == ["--stdin"]:
            return self._references(data.decode().split("\0"))
        if words[0] == "-d":
            self.refs.pop(words[1], None)
            return 0, b""
        ref, new, *old = words
        return (0, b"") if self._moved(ref, new, old[0] if old else "") else (REFUSED, b"")

    def _references(self, fields: list[str]) -> tuple[int, bytes]:
        """A transaction: `start NUL`, one change, `commit NUL`."""
        done = b""
        while fields[0]:
            command, _, ref = fields.pop(0).partition(" ")
            if command == "update" and not self._moved(ref, fields.pop(0), fields.pop(0)):
                return REFUSED, b"start: ok\n"
            if command == "delete":
                fields.pop(0)
                self.refs.pop(ref, None)
            if command in ("start", "commit"):
                done += f"{command}: ok\n".encode()
                ref = ""
        return 0, done

    def _moved(self, ref: str, new: str, old: str) -> bool:
        if old and self.refs.get(ref, "0" * 40) != old:
            return False
        assert new in self.objects, f"{ref} to {new}, which is not there"
        self.refs[ref] = new
        return True

    def _for_each_ref(self, words: list[str], data: bytes, where: Path) -> tuple[int, bytes]:
        shape = next(word for word in words if word.startswith("--format=")).removeprefix("--format=")
        wanted = [word for word in words if not word.startswith("--")]
        lines = []
        for ref, id in sorted(self.refs.items()):
            if wanted and not any(ref == one.rstrip("/") or ref.startswith(f"{one.rstrip('/')}/") for one in wanted):
                continue
            head = "*" if ref == self.head else " "
            shown = shape.replace("%(HEAD)", head).replace("%(refname)", ref).replace("%(symref)", "")
            lines.append(shown.replace("%(objecttype)", self.objects[id][0]).replace("%(objectname)", id))
        return 0, "".join(f"{line}\n" for line in lines).encode()

    def _symbolic_ref(self, words: list[str], data: bytes, where: Path) -> tuple[int, bytes]:
        return (0, f"{self.head}\n".encode()) if words[-1] == "HEAD" else (1, b"")

    def _merge_base(self, words: list[str], data: bytes, where: Path) -> tuple[int, bytes]:
        one, other = (self.resolve(f"{word}^{{commit}}") for word in words[-2:])
        if one is None or other is None:
            return REFUSED, b""
        if words[0] == "--is-ancestor":
            return (0 if one in self.ancestors(other) else 1), b""
        base = self.merge_base(one, other)
        return (0, f"{base}\n".encode()) if base else (1, b"")

    def _merge_tree(self, words: list[str], data: bytes, where: Path) -> tuple[int, bytes]:
        """The names stand in a git folder of our own, as its branches."""
        sides = [(where / "refs/heads" / name).read_text(encoding="ascii").strip() for name in words[-2:]]
        tree, conflicts = self.merge(sides[0], sides[1])
        return (1 if conflicts else 0), "".join(f"{name}\0" for name in (tree, *conflicts)).encode()

    def _commit_tree(self, words: list[str], data: bytes, where: Path) -> tuple[int, bytes]:
        parents = [words[number + 1] for number, word in enumerate(words) if word == "-p"]
        return 0, f"{self.commit(words[0], parents, data.decode())}\n".encode()

    def _config(self, words: list[str], data: bytes, where: Path) -> tuple[int, bytes]:
        return (1, b"") if "core.excludesFile" in words else (0, b"user.name made\nuser.email made@localhost\n")

    def _rev_list(self, words: list[str], data: bytes, where: Path) -> tuple[int, bytes]:
        assert "--max-parents=0" in words, words
        roots = sorted(id for id, (kind, _) in self.objects.items() if kind == "commit" and not self.parents(id))
        return 0, "".join(f"{id}\n" for id in roots).encode()

    def _worktree(self, words: list[str], data: bytes, where: Path) -> tuple[int, bytes]:
        return 0, f"worktree {where}\nHEAD {self.refs[self.head]}\nbranch {self.head}\n\n".encode()

    def _ls_files(self, words: list[str], data: bytes, where: Path) -> tuple[int, bytes]:
        assert "--others" not in words, words
        names = sorted(self.files("HEAD"))
        stage = "--stage" in words
        return 0, "".join(f"{FILE} {'0' * 40} 0\t{name}\0" if stage else f"{name}\0" for name in names).encode()

    def _ls_tree(self, words: list[str], data: bytes, where: Path) -> tuple[int, bytes]:
        assert words[:-1] == ["-r", "-d", "-z", "--name-only"], words
        folders = {
            "/".join(path.split("/")[:deep]) for path in self.files(words[-1]) for deep in range(1, path.count("/") + 1)
        }
        return 0, "".join(f"{folder}\0" for folder in sorted(folders)).encode()

    def _check_ignore(self, words: list[str], data: bytes, where: Path) -> tuple[int, bytes]:
        return 0, b""

    def _diff_tree(self, words: list[str], data: bytes, where: Path) -> tuple[int, bytes]:
        assert "--name-status" in words, words
        old, new = (self.files(word) for word in words[-2:])
        letters = {path: "A" if path not in old else "D" if path not in new else "M" for path in {**old, **new}}
        changed = sorted(path for path in letters if old.get(path) != new.get(path))
        return 0, "".join(f"{letters[path]}\0{path}\0" for path in changed).encode()

    def _log(self, words: list[str], data: bytes, where: Path) -> tuple[int, bytes]:
        base, _, tip = next(word for word in words if ".." in word).partition("..")
        old = set(self.ancestors(self.resolve(base) or ""))
        new = [commit for commit in self.ancestors(self.resolve(tip) or "") if commit not in old]
        return 0, "".join(f"{self.objects[c][1].decode().partition(SPACE)[2]}\n" for c in new).encode()


class Resident:
    """In place of a process that stays: the same answers, without a process."""

    repository: MadeGit

    def __init__(self, start: Callable[[], object]) -> None:
        del start

    def ask(self, request: bytes, read: Callable[[IO[bytes]], T]) -> T:
        repository = self.repository
        instead = repository.step("resident")
        if instead is not None:
            raise programs.NoAnswer(instead.err)
        is_of_references = request.startswith(b"start")
        answer = repository._update_ref if is_of_references else repository._cat_file
        status, out = answer(["--stdin"], request, Path())
        try:
            if status:
                raise EOFError("refused")
            return read(io.BytesIO(out))
        except EOFError as error:
            raise programs.NoAnswer(str(error)) from error

    def close(self) -> None:
        """Nothing stays."""
