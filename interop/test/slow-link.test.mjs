import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { openDevice } from "../lib/device.mjs"
import { isLong, noise, oursOnly } from "../lib/harness.mjs"
import { measureUse, slow, startLink } from "../lib/link.mjs"
import { startServer } from "../lib/server.mjs"

/** Bytes to carry over 256 kbit/s: enough to take far longer than a client waits for a sign of life. */
const sizes = isLong ? { join: [10, 400_000], upload: [4, 500_000] } : { join: [3, 400_000], upload: [2, 400_000] }

const timeout = 240_000

/** A device that has uploaded `count` blobs of `size` bytes. */
const writeBlobs = async (t, url, [count, size]) => {
  const device = await openDevice(t, { url })
  for (let index = 0; index < count; index++) await device.blob(`blob ${index}`, noise(size))
  return device.synced({ timeout })
}

/** A fresh device that has received everything `writer` wrote. */
const join = async (t, url, writer) => {
  const device = await openDevice(t, { url, identity: writer.identity })
  await device.holds(writer.written.length, { timeout })
  assert.deepEqual(await device.entries(), await writer.entries())
  return device
}

const assertUnbroken = (link, ...devices) =>
  assert.deepEqual({ logs: devices.flatMap(({ logs }) => logs), connections: link.connections }, { logs: [], connections: 1 })

describe("over 256 kbit/s and 200 ms", { concurrency: true }, () => {
  test("a fresh device joins a store of large entries in one go", oursOnly, async (t) => {
    const server = await startServer(t)
    const link = await startLink(t, server.url, { up: slow, down: slow })
    const writer = await writeBlobs(t, server.url, sizes.join)
    const use = measureUse(link, "down")
    const reader = await join(t, link.url, writer)
    const percent = use()
    t.diagnostic(`${sizes.join[0]} entries of ${sizes.join[1]} bytes, link used ${percent.toFixed(0)} %`)
    assertUnbroken(link, reader)
    assert.ok(percent > 60, `link used ${percent.toFixed(0)} %`)
  })

  test("a device uploads large entries in one go", oursOnly, async (t) => {
    const server = await startServer(t)
    const link = await startLink(t, server.url, { up: slow, down: slow })
    const use = measureUse(link, "up")
    const writer = await writeBlobs(t, link.url, sizes.upload)
    t.diagnostic(`${sizes.upload[0]} entries of ${sizes.upload[1]} bytes, link used ${use().toFixed(0)} %`)
    await join(t, server.url, writer)
    assertUnbroken(link, writer)
  })

  test("the link carries what it is given at its rate, in order", async (t) => {
    const server = await startServer(t)
    const quick = { bitsPerSecond: 8_000_000, latency: 50 }
    const link = await startLink(t, server.url, { up: quick, down: quick })
    const start = performance.now()
    await join(t, link.url, await writeBlobs(t, link.url, [3, 300_000]))
    const seconds = (performance.now() - start) / 1000
    assert.ok(seconds > 1.8, `1.8 MB at 1 MB/s in ${seconds} s`)
    assert.ok(link.carried.up > 900_000 && link.carried.down > 900_000)
  })
})
