import assert from "node:assert/strict"
import { test } from "node:test"
import { openDevice } from "../lib/device.mjs"
import { mib, noise, oursOnly, steadyPort, watchPeak } from "../lib/harness.mjs"
import { makeEntry, makeIdentity, seal } from "../lib/identity.mjs"
import { startServer } from "../lib/server.mjs"
import { openSession } from "../lib/session.mjs"

/** Fills a store with sealed entries of 500 kB; returns their ids in hex. */
const fill = async (t, server, identity, count) => {
  const { write } = await openSession(t, server, { identity })
  const ids = []
  for (let index = 0; index < count; index++) {
    const entry = makeEntry(`large ${index}`, noise(500_000))
    ids.push(Buffer.from(entry.id).toString("hex"))
    await write("default", [seal(identity, "default", [entry])])
  }
  return ids
}

test("a device uploads 20 MB it wrote while offline, and a fresh one joins", oursOnly, async (t) => {
  const server = await startServer(t, { port: await steadyPort() })
  const one = await openDevice(t, { url: server.url })
  await server.stop()
  for (let index = 0; index < 40; index++) await one.blob(`large ${index}`, noise(500_000))
  await server.start()
  await one.synced({ timeout: 60_000 })
  const fresh = await openDevice(t, { url: server.url, identity: one.identity })
  await fresh.holds(40, { timeout: 60_000 })
  assert.deepEqual(await fresh.entries(), await one.entries())
  assert.deepEqual(fresh.logs, [])
})

test("a fresh device joins a backlog of 60 MB; the first bytes come at once, the server's memory stays bounded", oursOnly, async (t) => {
  const server = await startServer(t)
  const identity = makeIdentity()
  const ids = await fill(t, server, identity, 120)
  const idle = server.memory().now
  const peak = watchPeak(t, () => server.memory().now)

  const raw = await openSession(t, server, { identity })
  const start = performance.now()
  const stream = raw.changes("default", 0, { keep: false })
  await stream.until(() => stream.firstAt)
  const first = stream.firstAt - start
  stream.interrupt()

  const fresh = await openDevice(t, { url: server.url, identity })
  const joining = performance.now()
  await fresh.holds(120, { timeout: 120_000 })
  const grown = peak() - idle
  t.diagnostic(`first Chunk after ${first.toFixed(1)} ms, joined in ${((performance.now() - joining) / 1000).toFixed(1)} s, server grew by ${mib(grown)}`)
  assert.deepEqual((await fresh.entries()).map(({ id }) => id), ids.toSorted())
  assert.deepEqual(fresh.logs, [])
  assert.ok(first < 500, `first Chunk after ${first} ms`)
  assert.ok(grown < 32 * 1_048_576, `server grew by ${mib(grown)}`)
})

test("Chunks start small, grow while acknowledgements are quick, and stay below 4 MiB", oursOnly, async (t) => {
  const server = await startServer(t)
  const identity = makeIdentity()
  await fill(t, server, identity, 40)
  const { changes } = await openSession(t, server, { identity })
  const stream = changes("default", 0, { keep: false })
  await stream.entries(40, { timeout: 60_000 })
  const largest = Math.max(...stream.chunkSizes)
  assert.ok(stream.chunkSizes[0] <= 33 * 1024, `the first Chunk has ${stream.chunkSizes[0]} bytes`)
  assert.ok(largest > 256 * 1024 && largest <= 4.1 * 1_048_576, `the largest Chunk has ${largest} bytes`)
})
