"""How fast logs are masked: an ordinary one, one dense in look-alikes, one endless line; beside copying the bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from agent_fox.system.redaction.masking import BytesRedactor
from bench.figures import Aim, Figure, best

MEGABYTE = 1_000_000
PIECE = 65_536
ROUNDS = 3
AIM_PER_SECOND = 200
"""Megabytes of ordinary log."""

VALUES = ("pl4tform-inj3cted-value",)

ORDINARY = (
    "[INFO] Compiling {n} source files to /home/build/project/service-a/target/classes",
    "[INFO] Downloading from central: https://repo.maven.apache.org/maven2/org/apache/commons/lang3/3.{n}/lang3-3.{n}.jar",
    "tests/unit/test_module_{n}.py::test_the_thing_{n} PASSED                           [ 42%]",
    "2026-03-01T12:00:{n}.123Z DEBUG [main] o.s.c.a.AnnotationConfigApplicationContext - Refreshing bean factory {n}",
    "   Compiling serde_json v1.0.{n}",
    "src/main/java/com/acme/orders/OrderService.java:{n}: warning: [unchecked] unchecked call to add(E) of a raw type",
    "\tat org.junit.jupiter.engine.execution.MethodInvocation.proceed(MethodInvocation.java:{n})",
    "gcc -O2 -Wall -Wextra -Iinclude -c src/file_{n}.c -o build/file_{n}.o",
)
LOOK_ALIKES = (
    "src/auth/token_{n}.go:42:13: undefined: Token",
    "  symbol:   variable passwordEncoder{n}",
    "def test_token_{n}(token: str, password: Password) -> None:",
    'js-tokens@^4.0.{n}: "integrity sha512-RdJUflcE3cUzKiMqQgsCu06FPu9UdIJO0beYbPhHN4k6apgJtifcoCtT9bcxOp"',
    "https://example.org:8080/path/{n}?key=value&auth=none",
)


def measure(size: int) -> Iterator[Figure]:
    """`size` is the length of each text in bytes."""
    texts = {"an ordinary build log": log(ORDINARY, size), "a log dense in look-alikes": log(LOOK_ALIKES, size)}
    texts["one line without an end"] = log(ORDINARY, size).replace(b"\n", b" ")
    for name, text in texts.items():
        took, floor = best(ROUNDS, masking(text), copying(text))
        aim = Aim(limit=size / MEGABYTE / AIM_PER_SECOND) if "ordinary" in name else Aim()
        yield Figure(f"masking {size / MEGABYTE:g} MB of {name}", took, floor, "copying it", aim)


def log(lines: Sequence[str], size: int) -> bytes:
    block = "\n".join(line.format(n=number % 997) for number in range(2_000) for line in lines).encode() + b"\n"
    return (block * (size // len(block) + 1))[:size]


def masking(text: bytes) -> Callable[[], None]:
    def run() -> None:
        redactor = BytesRedactor(VALUES)
        for start in range(0, len(text), PIECE):
            redactor.feed(text[start : start + PIECE])
        redactor.close()

    return run


def copying(text: bytes) -> Callable[[], None]:
    def run() -> None:
        for start in range(0, len(text), PIECE):
            bytes(bytearray(text[start : start + PIECE]))

    return run
