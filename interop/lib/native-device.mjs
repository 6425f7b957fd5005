/** A device of ours: a data folder and the `logkeep` commands that work on it. */
import { execFile, spawn } from "node:child_process"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { temporaryFolder, until } from "./harness.mjs"
import { logkeepBinary } from "./server.mjs"

/** effect's identity string of an identity of identity.mjs. */
export const identityString = ({ publicKey, rootSecret }) =>
  Buffer.from(JSON.stringify({ publicKey, privateKey: Buffer.from(rootSecret).toString("base64") })).toString("base64url")

/** Makes a device with this identity; its folder goes away with the test. */
export const openNativeDevice = async (t, identity) => {
  const device = new NativeDevice(t, temporaryFolder(t))
  await device.run("identity", "import", identityString(identity))
  return device
}

export class NativeDevice {
  constructor(t, folder) {
    Object.assign(this, { t, folder })
  }

  /** Runs a command to its end; resolves with the JSON lines it printed. */
  async run(command, subcommand, ...args) {
    const all = [command, subcommand, "--data", this.folder, "--json", ...args]
    const { error, stdout, stderr } = await new Promise((resolve) => {
      execFile(logkeepBinary(), all, { maxBuffer: 1 << 30 }, (error, stdout, stderr) => resolve({ error, stdout, stderr }))
    })
    if (error) throw Object.assign(new Error(`${all.join(" ")}: ${error.code}: ${stderr}`), { code: error.code, stderr })
    return stdout.split("\n").filter((line) => line !== "").map((line) => JSON.parse(line))
  }

  /** Exchanges everything with a server once; resolves with the final state. */
  async sync(url, store = "default") {
    const [state] = await this.run("log", "sync", "--remote", url, "--store", store, "--once")
    return state
  }

  /** Syncs in the background until the test ends or `stop()` is called. */
  startSync(url, store = "default") {
    const args = ["log", "sync", "--data", this.folder, "--json", "--remote", url, "--store", store]
    const child = spawn(logkeepBinary(), args, { stdio: ["ignore", "pipe", "inherit"] })
    const running = { child, state: undefined, exited: new Promise((resolve) => child.once("close", resolve)) }
    let rest = ""
    child.stdout.setEncoding("utf8").on("data", (text) => {
      const lines = (rest + text).split("\n")
      rest = lines.pop()
      if (lines.length > 0) running.state = JSON.parse(lines.at(-1))
    })
    running.until = (what, ready, options) => until(what, () => running.state && ready(running.state), options)
    running.stop = async (signal = "SIGTERM") => {
      child.kill(signal)
      return running.exited
    }
    this.t.after(() => child.kill("SIGKILL"))
    return running
  }

  /** All entries of a log as the server delivers them. */
  tail(url, store = "default", ...args) {
    return this.run("log", "tail", "--remote", url, "--store", store, ...args)
  }

  /** Adds one entry to a log on a server; resolves with `{ id, sequence }`. */
  async append(url, event, primaryKey, payloadHex, store = "default") {
    const what = ["--event", event, "--primary-key", primaryKey, "--payload-hex", payloadHex]
    const [appended] = await this.run("log", "append", "--remote", url, "--store", store, ...what)
    return appended
  }

  async importEffect(file) {
    const [done] = await this.run("log", "import-effect", file)
    return done
  }

  async exportEffect(file) {
    const [done] = await this.run("log", "export-effect", file)
    return done
  }

  /** Writes a file into the device's folder and returns its path. */
  file(name, content) {
    const path = join(this.folder, name)
    if (content !== undefined) writeFileSync(path, content)
    return path
  }

  /** All entries of the journal in id order, in the form of `Device.entries()`: read by way of an export. */
  async entries(name = "entries.sqlite") {
    const { DatabaseSync } = await import("node:sqlite")
    const file = this.file(name)
    await this.exportEffect(file)
    const database = new DatabaseSync(file, { readOnly: true })
    const rows = database.prepare("SELECT * FROM effect_event_journal ORDER BY id").all()
    database.close()
    const hex = (bytes) => Buffer.from(bytes).toString("hex")
    return rows.map(({ id, event, primary_key, payload }) => ({ id: hex(id), event, primaryKey: primary_key, payload: hex(payload) }))
  }
}
