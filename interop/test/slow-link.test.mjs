import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { openDevice } from "../lib/device.mjs"
import { isLong, noise, oursOnly } from "../lib/harness.mjs"
import { measureUse, slow, startLink } from "../lib/link.mjs"
import { startServer } from "../lib/server.mjs"

/** Bytes to carry over 256 kbit/s: enough to take far longer than a client waits for a sign of life. */
const sizes = isLong ? { join: [10, 400_000], upload: [4, 500_000] } : { join: [3, 400_000], upload: [2, 400_000] }

const timeout = 240_000

/** Writes `count` blobs of `size` bytes on one device and waits until they are where they should be. */
const carry = async (t, { writerUrl, readerUrl, count, size }) => {
  const writer = await openDevice(t, { url: writerUrl })
  for (let index = 0; index < count; index++) await writer.blob(`blob ${index}`, noise(size))
  await writer.synced({ timeout })
  const reader = await openDevice(t, { url: readerUrl, identity: writer.identity })
  await reader.holds(count, { timeout })
  assert.deepEqual(await reader.entries(), await writer.entries())
  return [...writer.logs, ...reader.logs]
}

describe("over 256 kbit/s and 200 ms", { concurrency: true }, () => {
  test("a fresh device joins a store of large entries in one go", oursOnly, async (t) => {
    const server = await startServer(t)
    const link = await startLink(t, server.url, { up: slow, down: slow })
    const [count, size] = sizes.join
    let use
    const logs = await carry(t, { writerUrl: server.url, get readerUrl() { use = measureUse(link, "down"); return link.url }, count, size })
    const percent = use()
    t.diagnostic(`${count} entries of ${size} bytes, link used ${percent.toFixed(0)} %`)
    assert.deepEqual({ logs, connections: link.connections }, { logs: [], connections: 1 }, "no break on the way")
    assert.ok(percent > 60, `link used ${percent.toFixed(0)} %`)
  })

  test("a device uploads large entries in one go", oursOnly, async (t) => {
    const server = await startServer(t)
    const link = await startLink(t, server.url, { up: slow, down: slow })
    const [count, size] = sizes.upload
    const use = measureUse(link, "up")
    const logs = await carry(t, { writerUrl: link.url, readerUrl: server.url, count, size })
    t.diagnostic(`${count} entries of ${size} bytes, link used ${use().toFixed(0)} %`)
    assert.deepEqual({ logs, connections: link.connections }, { logs: [], connections: 1 }, "no break on the way")
  })

  test("the link carries what it is given at its rate, in order", async (t) => {
    const server = await startServer(t)
    const link = await startLink(t, server.url, { up: { bitsPerSecond: 8_000_000, latency: 50 }, down: { bitsPerSecond: 8_000_000, latency: 50 } })
    const start = performance.now()
    await carry(t, { writerUrl: link.url, readerUrl: link.url, count: 3, size: 300_000 })
    const seconds = (performance.now() - start) / 1000
    assert.ok(seconds > 1.8, `1.8 MB at 1 MB/s in ${seconds} s`)
    assert.ok(link.carried.up > 900_000 && link.carried.down > 900_000)
  })
})
