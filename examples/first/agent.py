"""An agent is any program that reads a brief and changes files. This one is wrong at first, and mends what fails."""

import json
import os
import pathlib

brief = json.loads(pathlib.Path(os.environ["AGENT_FOX_BRIEF_JSON"]).read_text(encoding="utf-8"))
by_name = 'f"Hello, {name}!"'
if os.environ["AGENT_FOX_ARCHETYPE"] == "reviewer":
    print(json.dumps({"findings": []}))
else:
    greeting = f'"Hello, stranger!" if not name else {by_name}' if brief["failing"] else by_name
    pathlib.Path("greeting.py").write_text(f"def greet(name):\n    return {greeting}\n", encoding="utf-8")
