import assert from "node:assert/strict"
import { test } from "node:test"
import { sleep } from "../lib/harness.mjs"
import { entryId, opaqueBatch } from "../lib/identity.mjs"
import { startServer } from "../lib/server.mjs"
import { openSession } from "../lib/session.mjs"

/** A connection that writes and reads, and another of the same identity. */
const pair = async (t) => {
  const server = await startServer(t)
  const own = await openSession(t, server)
  const other = await openSession(t, server, { identity: own.identity })
  return { server, own, other, first: own.first }
}

const batchOf = (...entryIds) => ({ ...opaqueBatch(1, 40), entryIds })
const starts = (stream, first) => stream.batches.map(({ sequence }) => sequence - first)

/** Writes a last entry from elsewhere, so that everything before it has passed the streams. */
const settle = async (writer, streams) => {
  const [{ sequence }] = await writer.write("s", [opaqueBatch(1, 10)])
  await Promise.all(streams.map((stream) => stream.until(() => stream.batches.at(-1)?.sequence === sequence)))
  await sleep(50)
}

test("a connection does not receive what it wrote while its stream was open, other connections do", async (t) => {
  const { own, other, first } = await pair(t)
  const [mine, theirs] = [own.changes("s"), other.changes("s")]
  await Promise.all([own.client.ping(), other.client.ping()])
  await own.write("s", [opaqueBatch(2, 20), opaqueBatch(1, 20)])
  await other.write("s", [opaqueBatch(1, 20)])
  await mine.entries(1)
  await theirs.entries(3)
  await own.write("s", [opaqueBatch(1, 20)])
  await theirs.entries(4)
  assert.deepEqual(starts(mine, first), [3])
  assert.deepEqual(starts(theirs, first), [0, 2, 4])
})

test("a stream opened after the write receives it, on the same connection as well", async (t) => {
  const { own, first } = await pair(t)
  const early = own.changes("s")
  await own.client.ping()
  await own.write("s", [opaqueBatch(2, 20)])
  const late = own.changes("s")
  await late.entries(2)
  assert.deepEqual(starts(late, first), [0])
  assert.equal(early.entryCount, 0)
})

test("echo is withheld by scope: the same ids in another store are delivered", async (t) => {
  const { own, other } = await pair(t)
  const batch = opaqueBatch(2, 20)
  const elsewhere = own.changes("elsewhere")
  own.changes("s")
  await own.client.ping()
  await own.write("s", [batch])
  await other.write("elsewhere", [batch])
  await elsewhere.entries(2)
})

test("uploading again what a slow stream has not reached yet withholds it there", async (t) => {
  const { server, own, other, first } = await pair(t)
  const writer = await openSession(t, server, { identity: own.identity })
  const stream = own.changes("s", 0, { manual: true })
  await own.client.ping()
  await other.write("s", [opaqueBatch(1, 20)])
  await stream.entries(1)
  const batch = opaqueBatch(2, 20)
  const acks = await other.write("s", [batch])
  assert.deepEqual(await own.write("s", [batch]), acks)
  stream.manual = false
  stream.ack()
  await settle(writer, [stream])
  assert.deepEqual(starts(stream, first), [0, 3])
})

test("a batch with an id that was not written here is delivered whole", async (t) => {
  const { server, own, other, first } = await pair(t)
  const writer = await openSession(t, server, { identity: own.identity })
  const [a, b] = [entryId(), entryId()]
  const stream = own.changes("s", 0, { manual: true })
  await own.client.ping()
  await other.write("s", [opaqueBatch(1, 20)])
  await stream.entries(1)
  await own.write("s", [batchOf(a)])
  await other.write("s", [batchOf(a, b)])
  stream.manual = false
  stream.ack()
  await settle(writer, [stream])
  assert.deepEqual(starts(stream, first), [0, 2, 4])
})

test("uploading again what was delivered before withholds nothing later", async (t) => {
  const { server, own, other, first } = await pair(t)
  const writer = await openSession(t, server, { identity: own.identity })
  const [a, b] = [entryId(), entryId()]
  const stream = own.changes("s")
  await own.client.ping()
  await other.write("s", [batchOf(a), batchOf(b)])
  await stream.entries(2)
  await own.write("s", [batchOf(a), batchOf(b)])
  const c = entryId()
  await own.write("s", [batchOf(c)])
  await other.write("s", [batchOf(a, b, entryId())])
  await settle(writer, [stream])
  assert.deepEqual(starts(stream, first), [0, 1, 3, 6])
})
