"""What Gemini CLI must not find, whatever its settings say: instructions and variables that lie in a workspace.

No setting turns these off in a folder where our server and our hook may work. So the program is started with a script
that lets it not find them when it looks for what to load. Its tools read them as any other file.
"""

from __future__ import annotations

import json
from pathlib import Path

_SCRIPT = """'use strict';
const fs = require('node:fs');
const path = require('node:path');
const home = HOME + path.sep;
const given = GIVEN;
if (given) process.env.NODE_OPTIONS = given; else delete process.env.NODE_OPTIONS;

const isMemory = (place) => {
  const name = path.basename(String(place)).toLowerCase();
  return name === 'gemini.md' || (name === 'memory.md' && String(place).startsWith(home));
};
const isVariables = (place) => {
  const name = String(place);
  const isSettings = name.endsWith(path.join('.gemini', 'settings.json')) && !name.startsWith(home);
  return isSettings || name.endsWith(path.join('.gemini', '.env'));
};
const missing = (place) => Object.assign(new Error(`ENOENT: ${place}`), { code: 'ENOENT' });

const access = fs.promises.access;
fs.promises.access = async (place, ...more) => {
  if (isMemory(place)) throw missing(place);
  return access(place, ...more);
};
const existsSync = fs.existsSync;
fs.existsSync = (place) => !isVariables(place) && existsSync(place);
require('node:module').syncBuiltinESMExports();
"""


def hiding(home: Path, given: str) -> str:
    """The script. home: the program's own. given: what NODE_OPTIONS held, for the programs that it starts."""
    return _SCRIPT.replace("HOME", json.dumps(str(home)), 1).replace("GIVEN", json.dumps(given), 1)
