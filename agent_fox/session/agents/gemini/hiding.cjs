'use strict';
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
