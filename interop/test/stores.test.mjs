import assert from "node:assert/strict"
import { test } from "node:test"
import { openDevice } from "../lib/device.mjs"
import { oursOnly, sleep } from "../lib/harness.mjs"
import { makeEntry, makeIdentity, opaqueBatch, seal } from "../lib/identity.mjs"
import { startServer } from "../lib/server.mjs"
import { connect } from "../lib/wire.mjs"

const odd = {
  "empty": "",
  "spaces": "  two words ",
  "unicode": "Größe 日本語 🎈 e\u0301",
  "composed twin of the one before": "Größe 日本語 🎈 \u00e9",
  "slashes": "a/b//c/../d",
  "quotes": `it's "quoted"; DROP TABLE entries; -- %_`,
  "NUL": "before\0after",
  "prefix of the NUL one": "before",
  "1 KiB": "k".repeat(1_024)
}

test("odd store ids are names like any other", async (t) => {
  const server = await startServer(t)
  const identity = makeIdentity()
  const client = await connect(server.url)
  await client.login(identity)
  const ids = {}
  for (const [name, storeId] of Object.entries(odd)) {
    const entry = makeEntry("k", name)
    ids[name] = Buffer.from(entry.id).toString("hex")
    assert.equal((await client.write(identity, storeId, [seal(identity, storeId, [entry])])).length, 1, name)
  }
  const reader = await connect(server.url)
  await reader.login(identity)
  for (const [name, storeId] of Object.entries(odd)) {
    const stream = reader.changes(identity, storeId)
    await stream.entries(1)
    assert.deepEqual(stream.positions().map(([id]) => id), [ids[name]], name)
    stream.interrupt()
  }
  await Promise.all([client.close(), reader.close()])
})

test("devices sync in a store with an odd name", async (t) => {
  const server = await startServer(t)
  const storeId = `${odd.unicode}/${odd.quotes}\0`
  const one = await openDevice(t, { url: server.url, storeId })
  const two = await openDevice(t, { url: server.url, storeId, identity: one.identity })
  await one.note("a", "1")
  await two.note("a", "2")
  await Promise.all([one.holds(2), two.holds(2)])
  assert.deepEqual(await one.entries(), await two.entries())
})

test("a store id above 1 KiB is refused with its limit", oursOnly, async (t) => {
  const server = await startServer(t)
  const identity = makeIdentity()
  const client = await connect(server.url)
  await client.login(identity)
  const storeId = "k".repeat(1_025)
  const refused = (error) => {
    assert.equal(error.code, "InvalidRequest")
    assert.match(error.message, /1025.*1024|1024.*1025/)
    return true
  }
  await assert.rejects(client.write(identity, storeId, [opaqueBatch(1, 20)]), refused)
  await assert.rejects(client.changes(identity, storeId).exit(), refused)
  await client.ping()
  await client.close()
})

test("identity P/x with store y never sees identity P with store x/y", oursOnly, async (t) => {
  const server = await startServer(t)
  const outer = makeIdentity({ publicKey: "P" })
  const inner = makeIdentity({ publicKey: "P/x" })
  const client = await connect(server.url)
  await client.login(outer)
  await client.login(inner)
  const streams = [client.changes(outer, "x/y"), client.changes(inner, "y")]
  const writer = await connect(server.url)
  await writer.login(outer)
  await writer.login(inner)
  const batch = opaqueBatch(2, 50)
  const first = await writer.write(outer, "x/y", [batch])
  assert.deepEqual((await writer.write(inner, "y", [batch])).map(({ sequence }) => sequence), first.map(({ sequence }) => sequence), "the same ids are new in the other scope")
  await Promise.all(streams.map((stream) => stream.entries(2)))
  await writer.write(outer, "x/y", [opaqueBatch(1, 50)])
  await streams[0].entries(3)
  await sleep(100)
  assert.equal(streams[1].entryCount, 2)
  await Promise.all([client.close(), writer.close()])
})
