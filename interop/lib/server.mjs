/** The server under test as a child process: ours, or effect's own where the tests are checked against it. */
import { spawn } from "node:child_process"
import { existsSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { fileSize, isReference, memory, temporaryFolder, within } from "./harness.mjs"

const here = (path) => fileURLToPath(new URL(path, import.meta.url))
const children = new Set()
process.on("exit", () => { for (const child of children) child.kill("SIGKILL") })
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(1))

/** Path of our binary: `LOGKEEP_BIN`, else the debug build of this repository. */
export const logkeepBinary = () => {
  const path = process.env.LOGKEEP_BIN ?? here("../../target/debug/logkeep")
  if (!existsSync(path)) throw new Error(`no server binary at ${path}: run "cargo build" first, or set LOGKEEP_BIN`)
  return path
}

/** The command that starts a server of a kind, without its arguments. */
const commands = {
  logkeep: () => [logkeepBinary(), "serve"],
  reference: () => [process.execPath, "--no-warnings", here("reference-server.mjs")]
}

/** Runs a server command to its end; resolves with `{ code, signal, stdout, stderr }`. For starts that must fail. */
export const runServer = (args, { kind = isReference ? "reference" : "logkeep", env = {}, timeout = 10_000 } = {}) => {
  const child = launch(kind, args, env)
  return within(timeout, `server with ${args.join(" ")}`, child.exited).finally(() => child.process.kill("SIGKILL"))
}

const launch = (kind, args, env) => {
  const [command, ...fixed] = commands[kind]()
  const process_ = spawn(command, [...fixed, ...args], { env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "pipe"] })
  children.add(process_)
  const child = { process: process_, stdout: "", stderr: "", watchers: new Set() }
  for (const name of ["stdout", "stderr"]) {
    process_[name].setEncoding("utf8").on("data", (text) => {
      child[name] += text
      for (const watcher of child.watchers) watcher()
    })
  }
  child.exited = new Promise((resolve, reject) => {
    process_.once("error", reject)
    process_.once("close", (code, signal) => {
      children.delete(process_)
      resolve({ code, signal, stdout: child.stdout, stderr: child.stderr })
    })
  })
  return child
}

/**
 * Starts a server on a free port and stops it when the test ends.
 *
 * Options: `dataDir` (default a temporary folder; `":memory:"` keeps nothing), `tcp` (also listen on TCP),
 * `args` (more arguments), `env`, `kind` (`"logkeep"` or `"reference"`; default by `LOGKEEP_REFERENCE`), `port` (see
 * `steadyPort`; for tests that restart it).
 */
export const startServer = async (t, options = {}) => {
  const server = new Server({ ...options, dataDir: options.dataDir ?? temporaryFolder(t) })
  t.after(() => server.kill())
  await server.start()
  return server
}

export class Server {
  tcpPort = 0
  #child

  constructor({ kind = isReference ? "reference" : "logkeep", dataDir, port = 0, tcp = false, args = [], env = {} }) {
    Object.assign(this, { kind, dataDir, port, tcp, args, env })
  }

  /** Starts, or starts again on the same data and ports; resolves once it listens. */
  async start() {
    const listen = ["--listen", `127.0.0.1:${this.port}`, ...(this.tcp ? ["--listen-tcp", `127.0.0.1:${this.tcpPort}`] : [])]
    this.#child = launch(this.kind, [...listen, "--data", this.dataDir, ...this.args], this.env)
    this.url = await this.#listening("ws")
    this.port = Number(new URL(this.url).port)
    if (!this.tcp) return this
    this.tcpUrl = await this.#listening("tcp")
    this.tcpPort = Number(new URL(this.tcpUrl).port)
    return this
  }

  #listening(scheme) {
    const child = this.#child
    const line = new RegExp(`^listening on (${scheme}://\\S+)$`, "m")
    const found = new Promise((resolve) => {
      const look = () => {
        const match = line.exec(child.stdout)
        if (match) resolve(match[1])
      }
      child.watchers.add(look)
      look()
    })
    const failed = child.exited.then(({ code, stderr }) => {
      throw new Error(`server ended with ${code} before it listened: ${stderr.trim()}`)
    })
    return within(15_000, "server start", Promise.race([found, failed]))
  }

  get pid() {
    return this.#child.process.pid
  }

  get stderr() {
    return this.#child.stderr
  }

  /** Settles with `{ code, signal, stdout, stderr }` when the running process ends. */
  get exited() {
    return this.#child.exited
  }

  /** Resident memory in bytes: `{ now, peak }`. */
  memory() {
    return memory(this.pid)
  }

  /** Size of the largest write-ahead log under the data directory. */
  walSize() {
    const files = readdirSync(this.dataDir, { recursive: true }).filter((name) => name.endsWith("-wal"))
    return Math.max(0, ...files.map((name) => fileSize(join(this.dataDir, name))))
  }

  signal(name) {
    this.#child.process.kill(name)
  }

  /** Asks it to end and waits; resolves like `exited`. */
  stop(timeout = 15_000) {
    this.signal("SIGTERM")
    return within(timeout, "server stop", this.exited)
  }

  /** Ends it at once, as `kill -9` does; resolves like `exited`. */
  kill() {
    this.signal("SIGKILL")
    return this.exited
  }
}
