"""Maven and Gradle projects: their modules and wrappers, from pom.xml and settings.gradle."""

from __future__ import annotations

import io

from agent_fox.core.regex import regex
from agent_fox.verifier.logs.streams.xml_stream import XmlCut, read_xml
from agent_fox.verifier.projects.manifests import DEEPEST, MOST_FOLDERS, Manifests, depth, join, relative
from agent_fox.verifier.projects.systems import BuildSystem, NoteKind, SystemKind

POM = "pom.xml"
_SETTINGS = ("settings.gradle", "settings.gradle.kts")
_BUILDS = ("build.gradle", "build.gradle.kts")
_COMMENT = regex(r"""("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')|//[^\n]*|/\*(?:[^*]|\*(?!/))*\*/""")
_INCLUDE = regex(r"""\binclude\b[\s(]*((?:["'][^"'\n]{1,300}["'][\s,]*)+)""")
_QUOTED = regex(r"""["']([^"'\n]+)["']""")
_MOVED = regex(
    r"""project\(\s*["'](?P<name>:[^"'\n]+)["']\s*\)\.projectDir\s*=\s*"""
    r"""(?:new\s+)?[Ff]ile\(\s*(?:(?:settingsDir|rootDir|rootProject\.projectDir)\s*,\s*)?["'](?P<folder>[^"'\n]+)["']"""
)


class Pom:
    """What of a pom.xml matters here: its modules, and the plugins it names. Read element by element."""

    def __init__(self) -> None:
        self.modules: list[str] = []
        self.plugins: set[str] = set()
        self.properties: dict[str, str] = {}
        self._path: list[str] = []
        self._text = ""

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self._path.append(tag.rpartition(":")[2])
        self._text = ""

    def characters(self, text: str) -> None:
        self._text += text[:1_000]

    def end(self, tag: str) -> None:
        text, self._text = self._text.strip(), ""
        match self._path[-2:]:
            case ["modules", "module"] if text:
                self.modules.append(text)
            case ["plugin", "artifactId"]:
                self.plugins.add(text)
            case ["properties" | "configuration", name]:
                self.properties[name] = text
        self._path.pop()


def maven(manifests: Manifests, folder: str) -> BuildSystem | None:
    if not manifests.is_file(join(folder, POM)):
        return None
    modules = tuple(relative(module, folder) for module in maven_modules(manifests, folder))
    return BuildSystem(SystemKind.MAVEN, folder, POM, modules, wrapper_of(manifests, folder, "mvnw"))


def maven_modules(manifests: Manifests, folder: str) -> list[str]:
    """All modules of a build, nested ones too, as folders below the workspace, in the order they are named."""
    modules: dict[str, None] = {}
    waiting = [folder]
    while waiting and len(modules) < MOST_FOLDERS:
        at = waiting.pop(0)
        below = [module for module in _named_modules(manifests, at) if module not in modules and module != folder]
        modules.update(dict.fromkeys(below))
        waiting += below
    if waiting:
        manifests.note(NoteKind.TOO_MANY, join(folder, POM), f"has more than {MOST_FOLDERS} modules")
    return list(modules)[:MOST_FOLDERS]


def read_pom(manifests: Manifests, path: str) -> Pom:
    """A pom.xml as far as it can be read; what is cut off or has a document type is noted."""
    pom = Pom()
    text = manifests.text(path)
    try:
        if text:
            read_xml(io.BytesIO(text.encode()), pom)
    except XmlCut as error:
        manifests.note(NoteKind.INVALID, path, str(error))
    return pom


def _named_modules(manifests: Manifests, folder: str) -> list[str]:
    manifest = join(folder, POM)
    if depth(folder) > DEEPEST:
        manifests.note(NoteKind.TOO_DEEP, manifest, f"is more than {DEEPEST} folders below the root")
        return []
    places = (join(folder, name.removesuffix("/pom.xml")) for name in read_pom(manifests, manifest).modules)
    return [place for place in places if _is_below(manifests, place, folder, manifest, POM)]


def _is_below(manifests: Manifests, place: str, folder: str, manifest: str, inside: str = "") -> bool:
    """Whether a module is a folder below the one that names it; a note says why it is not."""
    if place.startswith(("..", "/")) or not (folder == "." or place.startswith(f"{folder}/")):
        manifests.note(NoteKind.OUTSIDE, manifest, f"names the module {place}, which is not below it")
        return False
    if not (manifests.is_file(join(place, inside)) if inside else manifests.is_folder(place)):
        manifests.note(NoteKind.MISSING, manifest, f"names the module {place}, which is not there")
        return False
    return True


def gradle(manifests: Manifests, folder: str) -> BuildSystem | None:
    manifest = next((name for name in (*_SETTINGS, *_BUILDS) if manifests.is_file(join(folder, name))), None)
    if manifest is None:
        return None
    modules = tuple(relative(module, folder) for module in _gradle_modules(manifests, folder, manifest))
    return BuildSystem(SystemKind.GRADLE, folder, manifest, modules, wrapper_of(manifests, folder, "gradlew"))


def gradle_scripts(manifests: Manifests, folder: str) -> str:
    """The build scripts of a folder, without comments."""
    texts = (manifests.text(join(folder, name)) for name in _BUILDS if manifests.is_file(join(folder, name)))
    return "\n".join(_without_comments(text) for text in texts if text)


def wrapper_of(manifests: Manifests, folder: str, name: str) -> str | None:
    return f"./{name}" if manifests.is_file(join(folder, name)) else None


def _gradle_modules(manifests: Manifests, folder: str, manifest: str) -> list[str]:
    if manifest not in _SETTINGS:
        return []
    text = _without_comments(manifests.text(join(folder, manifest)) or "")
    moved = {each["name"]: each["folder"] for each in _MOVED.finditer(text)}
    names = [f":{name.removeprefix(':')}" for listed in _INCLUDE.findall(text) for name in _QUOTED.findall(listed)]
    places = (join(folder, moved.get(name, name[1:].replace(":", "/"))) for name in names[:MOST_FOLDERS])
    return [place for place in dict.fromkeys(places) if _is_below(manifests, place, folder, join(folder, manifest))]


def _without_comments(text: str) -> str:
    return _COMMENT.sub(lambda found: found[1] or " ", text)
