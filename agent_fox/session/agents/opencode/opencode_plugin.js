// A plugin of opencode: tells on standard output what `run --format json` leaves out or tells too late, ends a session
// whose model cannot be reached, takes the workspace's documents for agents out of what the read tool shows, and follows
// no link that leads out of the places a session may name.

import fs from "node:fs"
import path from "node:path"

const LONGEST_SHOWN = 2000
const rules = globalThis[Symbol.for("agent-fox")]

function tell(event, more) {
  process.stdout.write(JSON.stringify({ type: "agent_fox", event, ...more }) + "\n")
}

function hearModel() {
  const real = globalThis.fetch
  const heard = async (input, init) => {
    const url = String(input?.url ?? input)
    if (!url.startsWith(rules.model)) return real(input, init)
    const answer = await real(input, init).catch((error) => {
      const why = init?.signal?.aborted ? init.signal.reason : error
      if (why?.name !== "AbortError") tell("unreached", { name: String(why?.name ?? ""), code: String(why?.code ?? "") })
      throw error
    })
    if (!answer.ok) tell("refused", { status: answer.status, after: asked(answer), ...(await named(answer.clone())) })
    return answer
  }
  globalThis.fetch = Object.assign(heard, real)
}

function asked(answer) {
  const seconds = Number.parseFloat(answer.headers.get("retry-after") ?? "")
  return Number.isFinite(seconds) && seconds >= 0 ? seconds : null
}

async function named(answer) {
  try {
    const { error } = await answer.json()
    const name = [error?.type, error?.code, error?.status].find((word) => typeof word === "string")
    return { name: name ?? "", message: String(error?.message ?? "").slice(0, 500) }
  } catch {
    return { name: "", message: "" }
  }
}

class Session {
  constructor(client) {
    this.client = client
    this.told = new Set()
    this.cut = 0
    this.beaten = 0
  }

  async hear({ type, properties }) {
    if (type === "message.updated") this.message(properties.info)
    if (type === "message.part.updated") await this.part(properties.part)
    if (type === "message.part.delta") this.beat()
    if (type === "session.status" && properties.status.type === "retry") await this.retry(properties)
  }

  message({ id, role, sessionID, providerID, modelID }) {
    if (role !== "assistant" || this.told.has(id)) return
    this.told.add(id)
    tell("asked", { sessionID, model: `${providerID}/${modelID}` })
  }

  async part(part) {
    if (part.type === "tool" && part.state.status === "running") this.call(part)
    if (part.type === "tool" && (part.state.status === "completed" || part.state.status === "error")) this.ended(part)
    if (part.type === "step-finish") await this.finish(part)
  }

  call({ callID, tool, state }) {
    if (this.told.has(callID)) return this.beat()
    this.told.add(callID)
    tell("call", { call: callID, tool, arguments: state.input })
  }

  ended({ callID, tool, state: { status, input, output, error } }) {
    const shown = String((status === "error" ? error : output) ?? "").slice(0, LONGEST_SHOWN)
    const state = { status, input, output: shown, error: shown }
    tell("ended", { part: { callID, tool, state } })
  }

  async finish({ id, reason, tokens, cost, sessionID }) {
    tell("finished", { part: { id, reason, tokens, cost } })
    this.cut = reason === "unknown" ? this.cut + 1 : 0
    if (this.cut > rules.retries) await this.giveUp(sessionID, "the model's answers end too early")
  }

  beat() {
    if (Date.now() - this.beaten < 1000) return
    this.beaten = Date.now()
    tell("beat", {})
  }

  async retry({ sessionID, status }) {
    tell("retry", { attempt: status.attempt, message: String(status.message), wait: (status.next - Date.now()) / 1000 })
    const tries = /timed out/.test(status.message) ? 1 : rules.retries
    if (status.attempt > tries) return this.giveUp(sessionID, `the model failed ${status.attempt} times`)
    if (status.next - Date.now() > rules.wait * 1000) await this.giveUp(sessionID, "the model asks for a long wait")
  }

  async giveUp(sessionID, why) {
    if (this.told.has("gave up")) return
    this.told.add("gave up")
    tell("gave_up", { why })
    await this.client.session.abort({ path: { id: sessionID } })
  }
}

function withoutDocuments({ tool }, result) {
  const loaded = result?.metadata?.loaded
  if (tool !== "read" || !Array.isArray(loaded) || loaded.length === 0) return
  result.output = result.output.split("\n<system-reminder>\nInstructions from: ", 1)[0].trimEnd()
  result.metadata.loaded = []
}

function existing(file) {
  return fs.existsSync(file) ? fs.realpathSync(file) : path.join(existing(path.dirname(file)), path.basename(file))
}

function withinPlaces({ args }, directory) {
  for (const word of [args?.filePath, args?.path]) {
    if (typeof word !== "string") continue
    const real = existing(path.resolve(directory, word))
    const isInside = rules.places.some((place) => real === place || real.startsWith(place + path.sep))
    if (!isInside) throw new Error(`Refused: ${word} leads out of the workspace.`)
  }
}

export const AgentFox = async ({ client, directory }) => {
  if (!rules) {
    tell("unguarded", {})
    process.exit(70)
  }
  tell("guarded", {})
  hearModel()
  const session = new Session(client)
  return {
    event: async ({ event }) => session.hear(event),
    "tool.execute.before": async (call, given) => withinPlaces(given, directory),
    "tool.execute.after": async (call, result) => withoutDocuments(call, result),
  }
}
