import assert from "node:assert/strict"
import { test } from "node:test"
import { noise, oursOnly, sleep } from "../lib/harness.mjs"
import { entryId, makeIdentity, opaqueBatch } from "../lib/identity.mjs"
import { encodeWrite, split } from "../lib/messages.mjs"
import { startServer } from "../lib/server.mjs"
import { openSession, sequences } from "../lib/session.mjs"

const halves = (data) => split(0, data, Math.ceil(data.length / 2))
const batchOf = (...entryIds) => ({ ...opaqueBatch(1, 40), entryIds })

test("a batch is stored unless all its ids are known, and every id position is acknowledged", async (t) => {
  const { write, first } = await openSession(t, await startServer(t))
  const [a, b, c, d, e] = Array.from({ length: 5 }, entryId)
  const acks = await write("s", [batchOf(a, b), batchOf(b, c), batchOf(a, b)])
  assert.deepEqual(sequences(acks, first), [0, 1, 2, 3, 0, 1])
  assert.deepEqual(acks.map(({ entryId }) => entryId), [a, b, b, c, a, b])
  assert.deepEqual(sequences(await write("s", [batchOf(c, b)]), first), [3, 1], "known ids keep the sequence they were first stored at")
  assert.deepEqual(sequences(await write("s", [batchOf(d, d)]), first), [4, 5], "a repeated id takes a position of its own")
  assert.deepEqual(sequences(await write("s", [batchOf(d)]), first), [4])
  assert.deepEqual(sequences(await write("s", [batchOf(d, e)]), first), [6, 7])
  assert.deepEqual(sequences(await write("other", [batchOf(a, b)]), first), [0, 1], "another store counts for itself")
  assert.deepEqual(await write("s", []), [])
})

test("a repeated upload stores nothing and answers the same sequences", async (t) => {
  const server = await startServer(t)
  const { write, identity } = await openSession(t, server)
  const batches = Array.from({ length: 20 }, (_, index) => opaqueBatch(1 + (index % 7), 100))
  const acks = await write("s", batches)
  assert.deepEqual(await write("s", batches), acks)
  const reader = await openSession(t, server, { identity })
  const stream = reader.changes("s")
  await stream.entries(acks.length)
  await sleep(50)
  assert.deepEqual(stream.positions(), acks.map(({ entryId, sequence }) => [Buffer.from(entryId).toString("hex"), sequence]))
})

test("parts of a write arrive in any order, between other writes, and repeats are ignored", async (t) => {
  const server = await startServer(t)
  const { client, write, identity, first } = await openSession(t, server)
  const part = (payload) => client.call("EventLog.WriteChunked", payload)
  const encoded = (batches) => encodeWrite({ publicKey: identity.publicKey, storeId: "s", batches })
  const [one, two] = [opaqueBatch(3, 1_000), opaqueBatch(2, 1_000)]
  const [ones, twos] = [split(5, encoded([one]), 300), split(6, encoded([two]), 300)]
  assert.deepEqual(await part(ones[3]), [])
  assert.deepEqual(await part(twos[0]), [])
  assert.deepEqual(await part({ ...ones[3], data: noise(300) }), [], "other bytes for an index that is there")
  assert.deepEqual(sequences(await write("s", [opaqueBatch(1, 10)]), first), [0])
  for (const payload of twos.slice(1, -1)) assert.deepEqual(await part(payload), [])
  assert.deepEqual(sequences(await part(twos.at(-1)), first), [1, 2])
  for (const payload of [ones[2], ones[0]]) assert.deepEqual(await part(payload), [])
  assert.deepEqual(sequences(await part(ones[1]), first), [3, 4, 5])
  assert.deepEqual(await part(ones[0]), [], "the id is free again")
  const again = split(5, encoded([opaqueBatch(1, 1_000)]), 300)
  for (const payload of again.slice(1, -1)) await part(payload)
  await assert.rejects(part(again.at(-1)), { code: "InternalServerError" }, "the old first part and the new rest make no write")
  const reader = await openSession(t, server, { identity })
  await reader.changes("s").entries(6)
})

test("a login drops the parts received before it", async (t) => {
  const { client, identity } = await openSession(t, await startServer(t))
  const parts = halves(encodeWrite({ publicKey: identity.publicKey, storeId: "s", batches: [opaqueBatch(1, 900)] }))
  await client.call("EventLog.WriteChunked", parts[0])
  await client.login(identity)
  assert.deepEqual(await client.call("EventLog.WriteChunked", parts[1]), [])
  assert.equal((await client.call("EventLog.WriteChunked", parts[0])).length, 1)
})

test("parts for another identity are refused when they complete", async (t) => {
  const { client } = await openSession(t, await startServer(t))
  const foreign = encodeWrite({ publicKey: makeIdentity().publicKey, storeId: "s", batches: [opaqueBatch(1, 900)] })
  const parts = halves(foreign)
  assert.deepEqual(await client.call("EventLog.WriteChunked", parts[0]), [])
  await assert.rejects(client.call("EventLog.WriteChunked", parts[1]), { code: "Forbidden", message: "Identity is not authenticated" })
})

test("a body that does not decode is refused without a public key", async (t) => {
  const { client, write, first, identity } = await openSession(t, await startServer(t))
  const refused = { code: "InternalServerError", requestTag: "WriteEntries", message: "Decoding failure", publicKey: undefined, storeId: undefined }
  const good = encodeWrite({ publicKey: identity.publicKey, storeId: "s", batches: [opaqueBatch(2, 50)] })
  for (const data of [noise(0), noise(3), noise(500), good.subarray(0, -1), Buffer.concat([good, noise(1)])]) {
    await assert.rejects(client.call("EventLog.WriteSingle", { data }), refused, `${data.length} bytes`)
  }
  await assert.rejects(client.call("EventLog.WriteChunked", { _tag: "Chunked", id: 1, part: [0, 1], data: noise(30) }), refused)
  assert.deepEqual(sequences(await write("s", [opaqueBatch(1, 10)]), first), [0], "nothing of it was stored")
})

test("entry ids that are not 16 bytes are refused and nothing of the request is stored", oursOnly, async (t) => {
  const { write, first } = await openSession(t, await startServer(t))
  for (const length of [0, 1, 15, 17, 1_000]) {
    await assert.rejects(write("s", [opaqueBatch(2, 10), batchOf(entryId(), noise(length))]), { code: "InvalidRequest" }, `${length} bytes`)
  }
  assert.deepEqual(sequences(await write("s", [opaqueBatch(1, 10)]), first), [0])
})

test("batches under the same nonce are acknowledged each by its own sequence", oursOnly, async (t) => {
  const { write, first } = await openSession(t, await startServer(t))
  const known = opaqueBatch(1, 10)
  await write("s", [known])
  assert.deepEqual(sequences(await write("s", [known, { ...opaqueBatch(1, 10), iv: known.iv }]), first), [0, 1])
})

test("parts that disagree about their number, or claim too many, drop the message", oursOnly, async (t) => {
  const { client, identity } = await openSession(t, await startServer(t))
  const part = (id, index, total, data) => client.call("EventLog.WriteChunked", { _tag: "Chunked", id, part: [index, total], data })
  const [head, tail] = halves(encodeWrite({ publicKey: identity.publicKey, storeId: "s", batches: [opaqueBatch(1, 900)] }))
  await part(0, 0, 3, noise(10))
  await assert.rejects(part(0, 1, 2, noise(10)), { code: "InvalidRequest" })
  await assert.rejects(part(1, 0, 2 ** 32, noise(10)), { code: "InvalidRequest" })
  await assert.rejects(part(2, 0, 2 ** 53 - 1, noise(10)), { code: "InvalidRequest" })
  assert.deepEqual(await part(0, 0, 2, head.data), [], "the id starts anew")
  assert.equal((await part(0, 1, 2, tail.data)).length, 1)
})
