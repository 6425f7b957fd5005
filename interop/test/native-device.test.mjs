import assert from "node:assert/strict"
import { join } from "node:path"
import { test } from "node:test"
import { openDevice } from "../lib/device.mjs"
import { sleep, temporaryFolder } from "../lib/harness.mjs"
import { makeIdentity } from "../lib/identity.mjs"
import { openNativeDevice } from "../lib/native-device.mjs"
import { startServer } from "../lib/server.mjs"

const dashed = (hex) => hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5")
const numbered = (prefix, count) => Array.from({ length: count }, (_, index) => [`${prefix}${index % 700}`, `${prefix} ${index}`])

/** An effect journal in a file, of entries that only another server knows. */
const effectJournal = async (t, identity, prefix, count) => {
  const server = await startServer(t, { kind: "reference", dataDir: ":memory:" })
  const file = join(temporaryFolder(t), "effect.sqlite")
  const device = await openDevice(t, { url: server.url, identity, file })
  for (let at = 0; at < count; at += 500) await device.notes(numbered(prefix, count).slice(at, at + 500))
  await device.synced({ timeout: 60_000 })
  await device.close()
  return file
}

for (const kind of ["logkeep", "reference"]) {
  test(`20,000 entries are exchanged by an effect client and a device of ours, through the ${kind} server`, { timeout: 300_000 }, async (t) => {
    const server = await startServer(t, { kind })
    const identity = makeIdentity()
    const native = await openNativeDevice(t, identity)
    const effect = await openDevice(t, { url: server.url, identity })
    for (let at = 0; at < 10_000; at += 500) await effect.notes(numbered("e", 10_000).slice(at, at + 500))
    await effect.synced({ timeout: 60_000 })
    const written = await effectJournal(t, identity, "n", 10_000)
    assert.equal((await native.importEffect(written)).stored, 10_000)

    const state = await native.sync(server.url)
    assert.deepEqual([state.received, state.uploaded, state.pending], [10_000, 10_000, 0])
    await effect.holds(20_000, { timeout: 60_000 })
    const expected = await effect.entries()
    assert.equal(expected.length, 20_000)
    assert.deepEqual(await native.entries(), expected)
    assert.deepEqual(effect.logs, [])
  })

  test(`writes travel live in both directions, through the ${kind} server`, async (t) => {
    const server = await startServer(t, { kind })
    const identity = makeIdentity()
    const native = await openNativeDevice(t, identity)
    const running = native.startSync(server.url)
    const effect = await openDevice(t, { url: server.url, identity })
    await effect.note("n1", "from effect")
    await running.until("the note of effect", (state) => state.received === 1)
    const { id } = await native.append(server.url, "Note", "n2", "142080ae8dce1b026e32f0e3c9f95e056669727374")
    await effect.holds(2)
    await running.until("the appended entry", (state) => state.received === 2)
    assert.equal(await running.stop(), 0)
    const expected = await effect.entries()
    assert.equal(dashed(expected.find((entry) => entry.primaryKey === "n2").id), id)
    assert.deepEqual(await native.entries(), expected)
  })

  test(`tail prints and decodes what effect wrote, through the ${kind} server`, async (t) => {
    const server = await startServer(t, { kind })
    const effect = await openDevice(t, { url: server.url })
    await effect.note("ключ", "zweite ü")
    await effect.blob("b1", new Uint8Array([0, 255]))
    await effect.synced()
    const native = await openNativeDevice(t, effect.identity)
    const string = { type: "string" }
    const schema = native.file("schema.json", JSON.stringify({
      Note: { type: "struct", fields: { id: string, text: string } },
      Blob: { type: "struct", fields: { id: string, data: { type: "bytes" } } }
    }))
    const lines = await native.tail(server.url, "default", "--schema", schema)
    const [note, blob] = await effect.entries()
    const sequence = (entry) => effect.acks.get(entry.id)
    assert.deepEqual(lines, [
      { sequence: sequence(note), id: dashed(note.id), event: "Note", primaryKey: "ключ", payloadHex: note.payload, payload: { id: "ключ", text: "zweite ü" } },
      { sequence: sequence(blob), id: dashed(blob.id), event: "Blob", primaryKey: "b1", payloadHex: blob.payload, payload: { id: "b1", data: { $bytes: "00ff" } } }
    ])
    assert.deepEqual((await native.tail(server.url, "default", "--from", String(sequence(blob)))).length, 1)

    const payload = JSON.stringify({ id: "n2", text: "from us" })
    await native.run("log", "append", "--remote", server.url, "--store", "default", "--event", "Note", "--primary-key", "n2", "--payload", payload, "--schema", schema)
    await effect.holds(3)
    const received = []
    const reader = await openDevice(t, { url: server.url, identity: effect.identity, onEntry: (event, payload) => received.push(payload) })
    await reader.holds(3)
    assert.deepEqual(received.at(-1), { id: "n2", text: "from us" })
  })
}

test("effect goes on with an exported journal where ours stopped", async (t) => {
  const server = await startServer(t)
  const identity = makeIdentity()
  const native = await openNativeDevice(t, identity)
  const other = await openDevice(t, { url: server.url, identity })
  await other.notes(numbered("o", 300))
  await other.synced()
  await native.importEffect(await effectJournal(t, identity, "n", 200))
  await native.sync(server.url)
  const file = join(temporaryFolder(t), "exported.sqlite")
  await native.exportEffect(file)

  const before = await native.sync(server.url)
  const effect = await openDevice(t, { url: server.url, identity, file })
  assert.deepEqual(await effect.entries(), await native.entries())
  await effect.note("later", "written after the move")
  await effect.synced()
  assert.equal(effect.imported, 0, "the cursor was taken over")
  assert.equal([...effect.acks.values()].length, 1, "and the checkpoint: only the new entry was uploaded")
  assert.equal((await native.sync(server.url)).cursor, before.cursor + 1)
  assert.deepEqual(await native.entries("again.sqlite"), await effect.entries())
})

test("a device of ours survives the restart of either server", async (t) => {
  for (const kind of ["logkeep", "reference"]) {
    const server = await startServer(t, { kind })
    const identity = makeIdentity()
    const native = await openNativeDevice(t, identity)
    const running = native.startSync(server.url)
    await running.until("a connection", (state) => state.connected)
    await server.kill()
    await running.until("the loss", (state) => !state.connected)
    await sleep(300)
    await server.start()
    const effect = await openDevice(t, { url: server.url, identity })
    await effect.note("n", "after the restart")
    await running.until("the note", (state) => state.received === 1, { timeout: 30_000 })
    assert.equal(await running.stop("SIGINT"), 0)
  }
})
