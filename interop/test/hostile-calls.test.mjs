import assert from "node:assert/strict"
import { test } from "node:test"
import { concat, frame, hex, sized, text } from "../lib/bytes.mjs"
import { interrupt, request } from "../lib/envelope.mjs"
import { noise, within } from "../lib/harness.mjs"
import { authentication, opaqueBatch } from "../lib/identity.mjs"
import { decodeDefect, decodeExit, encodeWrite, payloads } from "../lib/messages.mjs"
import { startServer } from "../lib/server.mjs"
import { openSession, sequences } from "../lib/session.mjs"
import { connect } from "../lib/wire.mjs"

/** A small repeatable random generator, so that a failure can be played again. */
const generator = (seed) => () => {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
  return seed / 2 ** 32
}

const mutate = (bytes, random) => {
  const at = Math.floor(random() * bytes.length)
  const choice = Math.floor(random() * 5)
  if (choice === 0) return bytes.slice(0, at)
  if (choice === 1) return concat(bytes, noise(1 + at % 20))
  if (choice === 2) return concat(bytes.slice(0, at), noise(1 + at % 5), bytes.slice(at))
  if (choice === 3) return concat(bytes.slice(0, at), bytes.slice(at + 1 + (at % 4)))
  const flipped = bytes.slice()
  for (let count = 1 + (at % 4); count > 0; count--) flipped[Math.floor(random() * bytes.length)] ^= 1 << Math.floor(random() * 8)
  return flipped
}

const someCalls = ({ identity, hello }) => {
  const scope = { publicKey: identity.publicKey, storeId: "s" }
  const data = encodeWrite({ ...scope, batches: [opaqueBatch(2, 30)] })
  return {
    "EventLog.Authenticate": authentication(identity, hello),
    "EventLog.WriteSingle": { data },
    "EventLog.WriteChunked": { _tag: "Chunked", id: 3, part: [1, 3], data: data.slice(0, 40) },
    "EventLog.Changes": { ...scope, startSequence: 7 },
    "EventLog.CompactionStatus": scope,
    "EventLog.CompactionBegin": scope,
    "EventLog.CompactionAbort": { ...scope, stageId: "a stage" },
    "EventLog.CompactionPart": { ...scope, stageId: "a stage", chunk: { _tag: "Chunked", id: 0, part: [0, 1], data } }
  }
}

test("garbage in the payload of every call is answered call by call, and the connection goes on", async (t) => {
  const server = await startServer(t)
  const session = await openSession(t, server)
  const { client } = session
  const random = generator(7)
  for (const [tag, value] of Object.entries(someCalls(session))) {
    const valid = payloads[tag](value)
    for (let round = 0; round < 150; round++) {
      const payload = mutate(valid, random)
      const id = `${tag} ${round}`
      const answer = client.exchange(tag, payload, { id })
      // A change stream that survives its mutation has no answer of its own.
      if (tag === "EventLog.Changes") client.send(interrupt(id))
      const { kind } = await within(5_000, `the answer to ${tag} with ${Buffer.from(payload).toString("hex")}`, answer)
      assert.ok(kind === "Exit" || kind === "Chunk", `${tag} ${round}: ${kind}`)
    }
    await client.ping()
  }
  const fresh = await openSession(t, server)
  assert.deepEqual(sequences(await fresh.write("s", [opaqueBatch(1, 10)]), fresh.first), [0])
})

test("values out of range are refused with the call, the challenge is kept", async (t) => {
  const session = await openSession(t, await startServer(t))
  const { client, identity } = session
  const calls = someCalls(session)
  const dies = (tag, payload, why) => assert.rejects(client.exchange(tag, payload).then(({ exit }) => decodeExit(tag, exit)), { kind: "Die" }, why)
  const changed = (tag, change) => payloads[tag]({ ...calls[tag], ...change })
  await dies("EventLog.Changes", changed("EventLog.Changes", { startSequence: -1 }), "negative start")
  for (const part of [[2, 2], [3, 2], [-1, 2], [0, 0], [0, -1]]) {
    await dies("EventLog.WriteChunked", changed("EventLog.WriteChunked", { part }), `part ${part}`)
  }
  const badText = concat(hex("9885f1a826"), sized(hex("ff fe")), hex("f8efc0827a"), sized(text(identity.publicKey)))
  await dies("EventLog.CompactionStatus", frame(badText), "a store id that is not UTF-8")
  await dies("EventLog.CompactionStatus", frame(), "no fields")
  await dies("EventLog.CompactionStatus", new Uint8Array(), "no frame")
  const hello = await client.hello()
  const login = authentication(identity, hello)
  await dies("EventLog.Authenticate", payloads["EventLog.Authenticate"]({ ...login, algorithm: "ed25519" }), "another algorithm")
  await client.call("EventLog.Authenticate", login)
})

test("numbers beyond 2^53 are refused", async (t) => {
  const session = await openSession(t, await startServer(t))
  const scope = concat(hex("9885f1a826"), sized(text("s")), hex("f8efc0827a"), sized(text(session.identity.publicKey)))
  for (const code of ["ffffffffffffffffff7f", "80808080808080808001"]) {
    const payload = frame(concat(hex("b1f8f3b63b"), hex(code), scope))
    const { exit } = await session.client.exchange("EventLog.Changes", payload)
    assert.throws(() => decodeExit("EventLog.Changes", exit), { kind: "Die" }, code)
  }
  await session.client.ping()
})

test("envelopes that only a server sends are answered with a defect", async (t) => {
  const server = await startServer(t)
  const exit = sized(concat(hex("21 a71fbf488612ff6b 01"), sized(hex("0008")), sized(hex("022000"))))
  const pong = sized(hex("21 a71fbf488612ff6b 06"))
  for (const [bytes, kind] of [[exit, "Exit"], [pong, "Pong"]]) {
    const client = await connect(server.url)
    const defect = client.next("Defect")
    client.send(bytes)
    assert.match(JSON.stringify(decodeDefect((await defect).defect)), new RegExp(kind))
    await client.ping()
    await client.close()
  }
})

test("a request with garbage for a name or headers harms nobody else", async (t) => {
  const server = await startServer(t)
  const witness = await openSession(t, server)
  const long = "x".repeat(200_000)
  const client = await connect(server.url)
  const unknown = await client.exchange(long, undefined)
  assert.throws(() => decodeExit("", unknown.exit), { kind: "Die" })
  await client.exchange("EventLog.Hello", undefined, { headers: Array.from({ length: 2_000 }, (_, index) => [`name ${index}`, long.slice(0, 50)]) })
  client.send(request(1e6, "", noise(100)))
  const random = generator(11)
  for (let round = 0; round < 100; round++) {
    const broken = await connect(server.url)
    broken.send(mutate(request(5, "EventLog.Hello"), random))
    if (round % 10 === 0) await witness.client.ping()
    broken.terminate()
  }
  assert.equal((await witness.write("s", [opaqueBatch(1, 10)])).length, 1)
  await client.close()
})
