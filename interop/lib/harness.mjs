/** What every test needs: temporary folders, waiting with a deadline, free ports, figures of a process. */
import { randomBytes } from "node:crypto"
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"

export { sleep }

/** Whether the tests run against effect's own server instead of ours: `LOGKEEP_REFERENCE=1`. */
export const isReference = process.env.LOGKEEP_REFERENCE === "1"

/** Whether the full sizes of slow tests are wanted: `LOGKEEP_LONG=1`. */
export const isLong = process.env.LOGKEEP_LONG === "1"

/** Test options for behaviour in which our server differs from the reference on purpose. */
export const oursOnly = { skip: isReference && "differs from the reference on purpose" }

/** A temporary folder that goes away with the test. */
export const temporaryFolder = (t) => {
  const folder = mkdtempSync(join(tmpdir(), "logkeep-interop-"))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/**
 * A port that is free and that the system does not hand out by itself: a server can be restarted on it without anybody,
 * not even a client that tries to reconnect, taking it in between.
 */
export const steadyPort = async () => {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 12_000)
    const server = createServer().listen(port, "127.0.0.1")
    const free = await new Promise((resolve) => server.once("listening", () => resolve(true)).once("error", () => resolve(false)))
    await new Promise((resolve) => server.close(resolve))
    if (free) return port
  }
}

/** Waits until `ready()` is truthy and returns it; `what` names it when the time is up. */
export const until = async (what, ready, { timeout = 10_000, every = 10 } = {}) => {
  const deadline = performance.now() + timeout
  for (;;) {
    const value = await ready()
    if (value) return value
    if (performance.now() > deadline) throw new Error(`still waiting after ${timeout} ms for ${what}`)
    await sleep(every)
  }
}

/** Fails with `what` when a promise takes longer than `timeout` milliseconds. */
export const within = (timeout, what, promise) => {
  const { promise: expired, reject } = Promise.withResolvers()
  const timer = setTimeout(() => reject(new Error(`${what} took longer than ${timeout} ms`)), timeout)
  return Promise.race([promise, expired]).finally(() => clearTimeout(timer))
}

/** Resident memory of a process in bytes: now, and at its peak. */
export const memory = (pid) => {
  const status = readFileSync(`/proc/${pid}/status`, "utf8")
  const figure = (name) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(status)[1]) * 1024
  return { now: figure("VmRSS"), peak: figure("VmHWM") }
}

/** Samples a figure while the test runs; the returned function tells the greatest so far. */
export const watchPeak = (t, measure, every = 20) => {
  let peak = measure()
  const sample = () => (peak = Math.max(peak, measure()))
  const timer = setInterval(() => { try { sample() } catch { clearInterval(timer) } }, every)
  t.after(() => clearInterval(timer))
  return sample
}

/** Size of a file, 0 when there is none. */
export const fileSize = (path) => (existsSync(path) ? statSync(path).size : 0)

/** Bytes in MiB with one decimal, for messages. */
export const mib = (bytes) => `${(bytes / 1_048_576).toFixed(1)} MiB`

/** Random bytes: incompressible payloads. */
export const noise = (size) => new Uint8Array(randomBytes(size))
