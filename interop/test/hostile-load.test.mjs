import assert from "node:assert/strict"
import { test } from "node:test"
import { mib, noise, oursOnly, sleep, watchPeak } from "../lib/harness.mjs"
import { makeIdentity, opaqueBatch } from "../lib/identity.mjs"
import { encodeWrite, split } from "../lib/messages.mjs"
import { startServer } from "../lib/server.mjs"
import { openSession } from "../lib/session.mjs"
import { connect } from "../lib/wire.mjs"

const megabytes = 1_048_576

/** A test on a warmed-up server; `grown()` is by how much its resident memory went up at most since then. */
const loaded = (name, attack) =>
  test(name, oursOnly, async (t) => {
    const server = await startServer(t)
    const witness = await openSession(t, server)
    await witness.write("warm", Array.from({ length: 100 }, () => opaqueBatch(10, 2_000)))
    await witness.changes("warm", 0, { keep: false }).entries(1_000)
    await sleep(100)
    const idle = server.memory().now
    const peak = watchPeak(t, () => server.memory().now)
    const grown = () => peak() - idle
    await attack({ t, server, witness, grown })
    assert.equal((await witness.write("s", [opaqueBatch(1, 10)])).length, 1, "others are served")
  })

const refusedWith = (pattern) => (error) => {
  assert.equal(error.code, "InvalidRequest", error.message)
  assert.match(error.message, pattern)
  return true
}

const part = (id, index, total, data) => ({ _tag: "Chunked", id, part: [index, total], data })

loaded("a message that claims 4 GiB costs nothing until it comes", async ({ t, server, grown }) => {
  const { client } = await openSession(t, server)
  for (const total of [8_389, 2 ** 20, 2 ** 31]) {
    const answer = client.call("EventLog.WriteChunked", part(total, 0, total, noise(512_000)))
    const acks = await answer.catch((error) => refusedWith(/\d/)(error) && [])
    assert.deepEqual(acks, [])
  }
  await client.ping()
  assert.ok(grown() < 16 * megabytes, `grew by ${mib(grown())}`)
})

loaded("of 10,000 open messages 64 are kept, the others refused, the kept ones can be completed", async ({ t, server, grown }) => {
  const { client, identity } = await openSession(t, server)
  const halves = (id) => {
    const data = encodeWrite({ publicKey: identity.publicKey, storeId: "s", batches: [opaqueBatch(1, 2_000)] })
    return split(id, data, Math.ceil(data.length / 2))
  }
  const kept = Array.from({ length: 64 }, (_, id) => halves(id))
  for (const [first] of kept) assert.deepEqual(await client.call("EventLog.WriteChunked", first), [])
  for (let at = 64; at < 10_000; at += 207) {
    const calls = Array.from({ length: 207 }, (_, index) => client.call("EventLog.WriteChunked", part(at + index, 0, 2, noise(2_000))))
    for (const { reason } of await Promise.allSettled(calls)) refusedWith(/64/)(reason ?? {})
  }
  for (const [, second] of kept) assert.equal((await client.call("EventLog.WriteChunked", second)).length, 1)
  assert.ok(grown() < 16 * megabytes, `grew by ${mib(grown())}`)
})

loaded("more parts than the memory of a connection are spooled or refused, others go on", async ({ t, server, witness, grown }) => {
  const { client, identity } = await openSession(t, server)
  const data = encodeWrite({ publicKey: identity.publicKey, storeId: "large", batches: Array.from({ length: 240 }, () => opaqueBatch(2, 400_000)) })
  const answers = []
  for (const payload of split(0, data)) {
    answers.push(...await client.call("EventLog.WriteChunked", payload))
    if (payload.part[0] % 50 === 0) await witness.client.ping()
  }
  assert.equal(answers.length, 480, "one write of 96 MB is stored")
  t.diagnostic(`server grew by ${mib(grown())} at a write of ${mib(data.length)}`)
  assert.ok(grown() < 160 * megabytes, `grew by ${mib(grown())}`)
})

loaded("50 clients that subscribe and never read or never acknowledge cost nobody anything while 100 MB are written",
  async ({ t, server, grown }) => {
    const writer = await openSession(t, server)
    const { identity } = writer
    const reader = await openSession(t, server, { identity })
    const stream = reader.changes("busy", 0, { keep: false })
    const write = async (count) => {
      let log = 0
      for (let written = 0; written < count; written++) {
        await writer.write("busy", [opaqueBatch(1, 500_000)])
        log = Math.max(log, server.walSize())
      }
      return log
    }
    await write(50)
    await stream.entries(50)
    const busy = grown()

    const lazy = await Promise.all(Array.from({ length: 50 }, () => openSession(t, server, { identity })))
    for (const [index, session] of lazy.entries()) {
      session.changes("busy", 0, { manual: true, keep: false })
      await session.client.ping()
      if (index % 2 === 0) session.client.pause()
    }
    const log = await write(200)
    await stream.entries(250, { timeout: 30_000 })
    const more = grown() - busy
    t.diagnostic(`server grew by ${mib(busy)} for a writer and a reader, by ${mib(more)} for the others; write-ahead log up to ${mib(log)}`)
    assert.ok(more < 16 * megabytes, `grew by ${mib(more)}`)
    assert.ok(log < 64 * megabytes, `write-ahead log of ${mib(log)}`)
  })

loaded("a connection may have 256 streams", async ({ t, server, grown }) => {
  const { client, identity } = await openSession(t, server)
  const streams = Array.from({ length: 256 }, (_, index) => client.changes(identity, `store ${index}`))
  await client.ping()
  await assert.rejects(client.changes(identity, "one more").exit(), refusedWith(/256/))
  streams[0].interrupt()
  await assert.rejects(streams[0].exit(), { kind: "Interrupt" })
  const again = client.changes(identity, "one more")
  await client.ping()
  assert.equal(again.ended, undefined, "an ended stream makes room")
  assert.ok(grown() < 16 * megabytes, `grew by ${mib(grown())}`)
})

loaded("a connection may have 64 identities", async ({ t, server }) => {
  const { client } = await openSession(t, server)
  for (let count = 1; count < 64; count++) await client.login(makeIdentity())
  await assert.rejects(client.login(makeIdentity()), refusedWith(/64/))
  await client.ping()
})

loaded("2,000 connections that never log in keep nobody out", async ({ t, server, grown }) => {
  const idle = []
  t.after(() => idle.forEach((client) => client.terminate()))
  for (let at = 0; at < 2_000; at += 100) {
    const opened = await Promise.allSettled(Array.from({ length: 100 }, () => connect(server.url)))
    idle.push(...opened.filter(({ status }) => status === "fulfilled").map(({ value }) => value))
  }
  const honest = await openSession(t, server)
  assert.equal((await honest.write("s", [opaqueBatch(1, 10)])).length, 1)
  t.diagnostic(`server grew by ${mib(grown())} for ${idle.length} connections`)
  assert.ok(grown() < 64 * megabytes, `grew by ${mib(grown())}`)
})

loaded("a flood of failing logins and of requests that are never waited for leaves the server sound", async ({ t, server, grown }) => {
  const client = await connect(server.url)
  t.after(() => client.terminate())
  const identity = makeIdentity()
  for (let round = 0; round < 20; round++) {
    const calls = Array.from({ length: 500 }, (_, index) => (index % 2 ? client.hello() : client.write(identity, "s", [opaqueBatch(1, 500)])))
    const answers = await Promise.allSettled(calls)
    assert.equal(answers.filter(({ reason }) => reason && reason.code !== "Forbidden").length, 0)
  }
  assert.ok(grown() < 16 * megabytes, `grew by ${mib(grown())}`)
})
