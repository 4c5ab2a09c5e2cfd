"""Run by a Python that has the peers: seconds of one durable step of DBOS, and of LangGraph, on SQLite, as JSON.

A step returns what a verifier's result holds, and is recorded before the next one begins. The time of a workflow or
graph of so many steps is divided by their number: start and end of it are not counted.
"""

from __future__ import annotations

import json
import logging
import sqlite3
import sys
import time
from importlib import import_module
from pathlib import Path
from typing import Any, TypedDict

STEPS = 100
ROUNDS = 5
VERDICTS = [{"requirement_id": f"01-REQ-{n}.1", "verdict": "PASS", "evidence": f"{n}: 3 passed"} for n in range(20)]


class State(TypedDict):
    """What the graph of LangGraph keeps."""

    number: int
    verdicts: list[dict[str, str]]


def of_dbos(folder: Path) -> list[float]:
    """Seconds of each step of `ROUNDS` workflows."""
    DBOS: Any = import_module("dbos").DBOS
    DBOS(config={"name": "bench", "system_database_url": f"sqlite:///{folder / 'dbos.sqlite'}"})
    took: list[float] = []

    def result(number: int) -> list[dict[str, str]]:
        return [{**verdict, "reading": str(number)} for verdict in VERDICTS]

    step = DBOS.step()(result)

    def run() -> None:
        step(0)
        start = time.perf_counter()
        for number in range(1, STEPS + 1):
            step(number)
        took.append((time.perf_counter() - start) / STEPS)

    workflow = DBOS.workflow()(run)
    DBOS.launch()
    try:
        for _ in range(ROUNDS):
            workflow()
    finally:
        DBOS.destroy()
    return took


def of_langgraph(folder: Path) -> list[float]:
    """Seconds of each step of `ROUNDS` runs of a graph that goes round, with its checkpointer for SQLite."""
    saver: Any = import_module("langgraph.checkpoint.sqlite").SqliteSaver
    graphs: Any = import_module("langgraph.graph")

    times: list[float] = []

    def result(state: State) -> dict[str, Any]:
        times.append(time.perf_counter())
        number = state["number"] + 1
        return {"number": number, "verdicts": [{**verdict, "reading": str(number)} for verdict in VERDICTS]}

    def goes_on(state: State) -> str:
        return "result" if state["number"] <= STEPS else str(graphs.END)

    graph = graphs.StateGraph(State)
    graph.add_node("result", result)
    graph.add_edge(graphs.START, "result")
    graph.add_conditional_edges("result", goes_on)
    took = []
    connection = sqlite3.connect(folder / "langgraph.sqlite", check_same_thread=False)
    compiled = graph.compile(checkpointer=saver(connection))
    for number in range(ROUNDS):
        times.clear()
        config = {"configurable": {"thread_id": str(number)}, "recursion_limit": 2 * STEPS}
        compiled.invoke({"number": 0, "verdicts": []}, config, durability="sync")
        took.append((times[-1] - times[0]) / (len(times) - 1))
    connection.close()
    return took


def main(folder: Path) -> None:
    """Print {peer: [seconds of a step, by round]}."""
    logging.disable()
    print(json.dumps({"dbos": of_dbos(folder), "langgraph": of_langgraph(folder)}))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
