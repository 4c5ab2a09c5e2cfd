"""`python -m bench`: takes every figure, or those named with --only, and prints the table; last what is over its aim.

Three sizes: the usual one takes five minutes, `--quick` one, `--long` as long as it needs for the largest plans and
logs. How much a figure is worth grows with them: `--quick` shows that all of it works.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from bench import (
    agent_words,
    agents,
    checkout,
    completions,
    durable,
    ledger,
    model_proxy,
    node_costs,
    outlines,
    page,
    parsing,
    peers,
    plan_files,
    projection,
    proving,
    redaction,
    remembering,
    server,
    source_watch,
    spec_reading,
    startup,
    traces,
    verifier,
    whole_runs,
)
from bench.figures import Figure, table


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much is measured."""

    result_nodes: int = 600
    plans: tuple[int, ...] = (100, 10_000)
    completions: int = 200
    saved_nodes: int = 3_000
    memory_nodes: int = 10_000
    start_rounds: int = 3
    status_nodes: int = 1_000
    files: int = 5_000
    specs: int = 100
    generated_specs: tuple[int, ...] = (500, 2_000)
    hostile_bytes: int = 30_000
    outline_bytes: int = 5_000_000
    log_bytes: int = 5_000_000
    shown_bytes: int = 100_000
    commands: int = 4
    sessions: int = 3
    messages: int = 1_000
    requests: int = 30
    event_bytes: int = 5_000_000
    requirements: int = 2_000
    shown_requirements: int = 10_000
    evidence_bytes: int = 200_000
    ledger_records: int = 1_000
    remembered: int = 10_000
    proven: int = 12
    planned: int = 10
    run_specs: int = 12
    instant_nodes: tuple[int, int] = (200, 600)
    asleep: tuple[int, int] = (20, 2)


LONG = Sizes(
    result_nodes=2_000, plans=(100, 10_000, 100_000), completions=600, saved_nodes=10_000, memory_nodes=100_000,
    start_rounds=10, files=20_000, specs=500, generated_specs=(1_000, 5_000, 10_000), hostile_bytes=60_000,
    outline_bytes=50_000_000,
    log_bytes=50_000_000, commands=8, sessions=7, messages=4_000, requests=60, event_bytes=20_000_000,
    ledger_records=3_000, run_specs=60, instant_nodes=(1_000, 10_000), asleep=(500, 10),
)  # fmt: skip


QUICK = Sizes(
    result_nodes=40, plans=(40, 400), completions=40, saved_nodes=400, memory_nodes=400, start_rounds=1,
    status_nodes=40, files=200, specs=8, generated_specs=(8, 16), hostile_bytes=2_000, log_bytes=50_000,
    outline_bytes=20_000,
    shown_bytes=2_000, commands=1, sessions=1, messages=10, requests=2, event_bytes=20_000, requirements=50,
    evidence_bytes=2_000, ledger_records=80, remembered=40, proven=2, planned=1, shown_requirements=100,
    run_specs=4, instant_nodes=(20, 40), asleep=(2, 1),
)  # fmt: skip

Measure = Callable[[Sizes], Iterator[Figure]]

BENCHES: Mapping[str, Measure] = {
    "results": lambda sizes: durable.measure(sizes.result_nodes),
    "peers": lambda sizes: peers.measure(sizes.result_nodes),
    "completions": lambda sizes: completions.measure(sizes.plans, sizes.completions),
    "size": lambda sizes: completions.measure_size(sizes.saved_nodes),
    "plans": lambda sizes: plan_files.measure_saving(sizes.saved_nodes),
    "memory": lambda sizes: plan_files.measure_memory(sizes.memory_nodes),
    "planning": lambda sizes: plan_files.measure_planning(sizes.specs),
    "real-specs": lambda sizes: spec_reading.measure_real(sizes.specs),
    "generated-specs": lambda sizes: spec_reading.measure_generated(sizes.generated_specs),
    "hostile-specs": lambda sizes: spec_reading.measure_hostile(sizes.hostile_bytes),
    "outlines": lambda sizes: outlines.measure_outlines(sizes.outline_bytes),
    "start": lambda sizes: startup.measure(sizes.start_rounds, sizes.status_nodes),
    "checkout": lambda sizes: checkout.measure(sizes.files),
    "parsing": lambda sizes: parsing.measure(sizes.log_bytes),
    "redaction": lambda sizes: redaction.measure(sizes.log_bytes),
    "verifier": lambda sizes: verifier.measure(sizes.commands, sizes.files),
    "server": lambda sizes: server.measure(sizes.commands),
    "projection": lambda sizes: projection.measure(sizes.shown_bytes),
    "agents": lambda sizes: agents.measure(sizes.sessions, sizes.messages),
    "proxy": lambda sizes: model_proxy.measure(sizes.requests, sizes.log_bytes),
    "events": lambda sizes: agent_words.measure_events(sizes.event_bytes),
    "prompts": lambda sizes: agent_words.measure_prompt(sizes.requirements, sizes.evidence_bytes),
    "ledger": lambda sizes: ledger.measure(sizes.ledger_records),
    "remembering": lambda sizes: remembering.measure(sizes.remembered),
    "proofs": lambda sizes: proving.measure(sizes.proven),
    "proofs-plan": lambda sizes: proving.measure_plan(sizes.planned),
    "page": lambda sizes: page.measure(sizes.shown_requirements, sizes.start_rounds),
    "nodes": lambda sizes: node_costs.measure(sizes.run_specs),
    "instant-runs": lambda sizes: whole_runs.measure_instant(sizes.instant_nodes),
    "instant-parallel": lambda sizes: whole_runs.measure_parallel(sizes.instant_nodes[0]),
    "sleeping": lambda sizes: whole_runs.measure_sleeping(*sizes.asleep),
    "traces": lambda sizes: traces.measure(sizes.files),
    "watching": lambda sizes: source_watch.measure(sizes.files),
}


def main(arguments: Sequence[str]) -> int:
    """Print what was measured. The exit code is 0 whatever the figures: how busy the machine is, is no error."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    sized = parser.add_mutually_exclusive_group()
    sized.add_argument("--quick", action="store_true", help="small sizes: shows that it works, measures nothing")
    sized.add_argument("--long", action="store_true", help="the largest plans, logs and folders")
    parser.add_argument("--only", action="append", choices=sorted(BENCHES), metavar="NAME", help="only this one")
    options = parser.parse_args(arguments)
    sizes = QUICK if options.quick else LONG if options.long else Sizes()
    start = time.monotonic()
    figures: list[Figure] = []
    for name in options.only or BENCHES:
        began = time.monotonic()
        figures += BENCHES[name](sizes)
        print(f"measured: {name}, {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
    print(table(figures))
    print(f"\n{len(figures)} figures in {time.monotonic() - start:.0f} s; s, ms and µs are seconds of the wall clock")
    over = [figure for figure in figures if not figure.is_ok]
    print(f"\nover their aims: {len(over)}\n{table(over)}" if over else "\nnothing is over its aim")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
