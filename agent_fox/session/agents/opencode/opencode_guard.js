// Runs inside opencode before its own first line (BUN_INSPECT_PRELOAD) and keeps the workspace out of its configuration.
// opencode 1.18.33 imports plugins that a workspace names, whatever its own switches say. Here its search for
// configuration finds nothing outside of its own folder, and no file is loaded as code but our plugin.
"use strict"

const fs = require("fs")
const path = require("path")

const rules = JSON.parse(fs.readFileSync(path.join(__dirname, "guard.json"), "utf8"))
const SOUGHT = new Set([".opencode", "opencode.json", "opencode.jsonc"])
const read = fs.readFileSync

delete process.env.BUN_INSPECT_PRELOAD
for (const name of Object.keys(process.env)) {
  if (name.startsWith("OPENCODE_") && !(name in rules.environment)) delete process.env[name]
}

function isHidden(file) {
  const whole = path.resolve(String(file))
  return SOUGHT.has(path.basename(whole)) && path.dirname(whole) !== rules.configuration
}

const access = fs.access
fs.access = function (file, ...rest) {
  if (!isHidden(file)) return access.call(fs, file, ...rest)
  const missing = new Error(`ENOENT: no such file or directory, access '${file}'`)
  process.nextTick(rest[rest.length - 1], Object.assign(missing, { code: "ENOENT", errno: -2, syscall: "access" }))
}

Bun.plugin({
  name: "agent-fox-guard",
  setup(build) {
    build.onLoad({ filter: /.*/ }, ({ path: file }) => ({
      contents: file === rules.plugin ? read(file, "utf8") : "export default undefined",
      loader: "js",
    }))
  },
})

const { model, retries, wait, places } = rules
globalThis[Symbol.for("agent-fox")] = { model, retries, wait, places }
