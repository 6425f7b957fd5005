import assert from "node:assert/strict"
import { test } from "node:test"
import { ack, eof, interrupt, request } from "../lib/envelope.mjs"
import { isReference, oursOnly, sleep, until } from "../lib/harness.mjs"
import { opaqueBatch } from "../lib/identity.mjs"
import { decodeExit, encodeWrite, payloads } from "../lib/messages.mjs"
import { startServer } from "../lib/server.mjs"
import { openSession } from "../lib/session.mjs"

/** A writer and a reader of one identity, on connections of their own. */
const pair = async (t) => {
  const server = await startServer(t)
  const writer = await openSession(t, server)
  const reader = await openSession(t, server, { identity: writer.identity })
  return { server, writer, reader, first: writer.first }
}

const starts = (stream, first) => stream.batches.map(({ sequence }) => sequence - first)

test("a stream delivers the batches that reach its start, then live ones, each once and in order", async (t) => {
  const { writer, reader, first } = await pair(t)
  await writer.write("s", [opaqueBatch(3, 20), opaqueBatch(2, 20), opaqueBatch(4, 20)])
  const expected = new Map([[0, [0, 3, 5]], [2, [0, 3, 5]], [3, [3, 5]], [4, [3, 5]], [5, [5]], [8, [5]], [9, []]])
  const streams = [...expected.keys()].map((start) => reader.changes("s", start + first))
  await Promise.all(streams.map((stream, index) => stream.until(() => stream.batches.length >= [...expected.values()][index].length)))
  await writer.write("s", [opaqueBatch(1, 20)])
  await writer.write("s", [opaqueBatch(2, 20)])
  await Promise.all(streams.map((stream) => stream.until(() => starts(stream, first).at(-1) === 10)))
  await sleep(100)
  streams.forEach((stream, index) => {
    assert.deepEqual(starts(stream, first), [...[...expected.values()][index], 9, 10], `from ${[...expected.keys()][index]}`)
  })
})

test("batches arrive as they were written, byte for byte", async (t) => {
  const { writer, reader } = await pair(t)
  const batches = [opaqueBatch(1, 16), opaqueBatch(100, 5_000), opaqueBatch(1, 0), opaqueBatch(2, 700_000)]
  await writer.write("s", batches)
  const stream = reader.changes("s")
  await stream.until(() => stream.batches.length === batches.length)
  assert.deepEqual(stream.batches.map(({ sequence, ...batch }) => batch), batches)
})

test("a stream that starts beyond the end still delivers what is written next", async (t) => {
  const { writer, reader, first } = await pair(t)
  const stream = reader.changes("s", 1_000_000)
  await reader.client.ping()
  await writer.write("s", [opaqueBatch(2, 20)])
  await stream.entries(2)
  assert.deepEqual(starts(stream, first), [0])
})

test("at most one unacknowledged Chunk a stream; Pings are answered meanwhile and other streams flow", async (t) => {
  const { writer, reader } = await pair(t)
  await writer.write("s", [opaqueBatch(1, 400_000)])
  await writer.write("s", [opaqueBatch(1, 400_000)])
  const held = reader.changes("s", 0, { manual: true })
  const free = reader.changes("other")
  await held.until(() => held.chunkSizes.length === 1)
  for (let round = 1; round <= 3; round++) {
    await writer.write("s", [opaqueBatch(1, 100)])
    await writer.write("other", [opaqueBatch(1, 100)])
    await free.entries(round)
    await reader.client.ping()
  }
  await sleep(200)
  assert.equal(held.chunkSizes.length, 1, "no second Chunk before the acknowledgement")
  held.manual = false
  held.ack()
  await held.entries(5)
})

test("an Ack that comes early has no effect, and Acks do not add up", async (t) => {
  const { writer, reader } = await pair(t)
  const stream = reader.changes("s", 0, { manual: true })
  stream.ack()
  stream.ack()
  await reader.client.ping()
  const chunks = async (count) => {
    await stream.until(() => stream.chunkSizes.length >= count)
    await sleep(100)
    assert.equal(stream.chunkSizes.length, count)
  }
  await writer.write("s", [opaqueBatch(1, 20)])
  await chunks(1)
  await writer.write("s", [opaqueBatch(1, 20)])
  await sleep(100)
  await chunks(1)
  stream.ack()
  await chunks(2)
  reader.client.send(ack(stream.id), ack(stream.id), ack(stream.id))
  await reader.client.ping()
  await writer.write("s", [opaqueBatch(1, 20)])
  await chunks(3)
  await writer.write("s", [opaqueBatch(1, 20)])
  await sleep(100)
  await chunks(3)
})

test("a stream opened while a write of its connection is under way delivers all the same", async (t) => {
  const { server, writer } = await pair(t)
  await writer.write("s", [opaqueBatch(3, 20)])
  for (let round = 1; round <= 30; round++) {
    const { client, identity } = await openSession(t, server, { identity: writer.identity })
    const written = client.write(identity, "s", [opaqueBatch(1, 20_000)])
    const stream = client.changes(identity, "s")
    await Promise.all([written, stream.entries(2 + round)])
    await client.terminate()
  }
})

test("an interrupted stream answers Interrupt and stays silent; its id may be used again", async (t) => {
  const { writer, reader } = await pair(t)
  await writer.write("s", [opaqueBatch(1, 20)])
  for (const manual of [false, true]) {
    const stream = reader.changes("s", 0, { id: 77, manual })
    await stream.entries(1)
    stream.interrupt()
    await assert.rejects(stream.exit(), { kind: "Interrupt" })
    const before = reader.client.received.length
    await writer.write("s", [opaqueBatch(1, 20)])
    await sleep(100)
    assert.equal(reader.client.received.length, before)
  }
  await reader.client.send(interrupt(77), interrupt("77"), ack(77), ack(123_456))
  await reader.client.ping()
})

test("two streams of one store on one connection are independent", async (t) => {
  const { writer, reader } = await pair(t)
  const streams = [reader.changes("s"), reader.changes("s")]
  await reader.client.ping()
  await writer.write("s", [opaqueBatch(2, 20)])
  await Promise.all(streams.map((stream) => stream.entries(2)))
  streams[0].interrupt()
  await assert.rejects(streams[0].exit(), { kind: "Interrupt" })
  await writer.write("s", [opaqueBatch(1, 20)])
  await streams[1].entries(3)
  assert.equal(streams[0].entryCount, 2)
})

test("discard answers at once with nothing, a notification is not answered, and both are carried out", async (t) => {
  const { writer, reader } = await pair(t)
  const { client, identity } = writer
  const stream = reader.changes("s")
  const payload = () => payloads["EventLog.WriteSingle"]({
    data: encodeWrite({ publicKey: identity.publicKey, storeId: "s", batches: [opaqueBatch(1, 20)] })
  })
  const discarded = await client.exchange("EventLog.WriteSingle", payload(), { discard: true })
  assert.equal(Buffer.from(discarded.exit).toString("hex"), "022000")
  await stream.entries(1)
  const before = client.received.length
  client.send(request(900, "EventLog.WriteSingle", payload(), { isNotification: true }))
  await stream.entries(2)
  await client.ping()
  assert.deepEqual(client.received.slice(before).map(({ kind }) => kind), ["Pong"])
})

test("a second request with a live id ends the connection with 1001, a text twin of a number does not", async (t) => {
  const { writer, reader } = await pair(t)
  reader.changes("s", 0, { id: 5 })
  await reader.client.call("EventLog.Hello", undefined, { id: "5" })
  reader.client.send(request(5, "EventLog.Hello"))
  assert.equal((await reader.client.closed).code, isReference ? 1005 : 1001)
  await writer.client.ping()
})

test("requests are answered by id with type and value, whatever it is", async (t) => {
  const { client } = await openSession(t, await startServer(t))
  for (const id of [1_000_000, 2 ** 48 - 1, 2 ** 45 + 1, "", "a text", "日本 🎈", "9".repeat(300)]) {
    const { exit } = await client.exchange("EventLog.Hello", undefined, { id })
    assert.equal(decodeExit("EventLog.Hello", exit).challenge.length, 32, String(id))
  }
})

test("headers and trace fields are accepted, an unknown call dies alone, Eof leaves the connection open", async (t) => {
  const { client } = await openSession(t, await startServer(t))
  const options = { headers: [["x-test", "1"], ["", ""]], traceId: "0".repeat(32), spanId: "1".repeat(16), sampled: false }
  await client.exchange("EventLog.Hello", undefined, options)
  await assert.rejects(client.call("EventLog.Nope"), { kind: "Die", defect: "Unknown request tag: EventLog.Nope" })
  client.send(eof)
  await client.hello()
  await client.ping()
})

test("a stream ends with its connection and leaves nothing behind", oursOnly, async (t) => {
  const { server, writer } = await pair(t)
  for (let round = 0; round < 20; round++) {
    const reader = await openSession(t, server, { identity: writer.identity })
    reader.changes("s", 0, { manual: true })
    await writer.write("s", [opaqueBatch(1, 20)])
    await reader.client.terminate()
  }
  await until("the writer to be served", () => writer.client.ping().then(() => true))
})
