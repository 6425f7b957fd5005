import assert from "node:assert/strict"
import { test } from "node:test"
import { openConnection, openDevice } from "../lib/device.mjs"
import { oursOnly, until } from "../lib/harness.mjs"
import { authentication, makeEntry, makeIdentity, opaqueBatch, seal } from "../lib/identity.mjs"
import { startLink } from "../lib/link.mjs"
import { encodeWrite } from "../lib/messages.mjs"
import { startServer } from "../lib/server.mjs"
import { connect } from "../lib/wire.mjs"

const refusal = (requestTag, message, more = {}) => ({ code: "Forbidden", requestTag, message, ...more })

test("every call but hello and authenticate is refused before a login", async (t) => {
  const server = await startServer(t)
  const { publicKey } = makeIdentity()
  const scope = { publicKey, storeId: "default" }
  const client = await connect(server.url)
  const calls = {
    "EventLog.WriteSingle": { data: encodeWrite({ ...scope, batches: [opaqueBatch(1, 20)] }) },
    "EventLog.WriteChunked": { _tag: "Chunked", id: 0, part: [0, 2], data: new Uint8Array(3) },
    "EventLog.Changes": { ...scope, startSequence: 0 },
    "EventLog.CompactionStatus": scope,
    "EventLog.CompactionBegin": scope
  }
  for (const [tag, payload] of Object.entries(calls)) {
    await assert.rejects(client.call(tag, payload), refusal(tag, "Unauthenticated request", { publicKey: undefined, storeId: undefined }), tag)
  }
  await client.hello()
  await assert.rejects(client.call("EventLog.CompactionStatus", scope), refusal("EventLog.CompactionStatus", "Unauthenticated request"))
  await client.close()
})

test("a login opens only its own identity, and nothing leaks to another connection", async (t) => {
  const server = await startServer(t)
  const [mine, other] = [makeIdentity(), makeIdentity()]
  const client = await connect(server.url)
  await client.login(mine)
  const notMine = refusal("WriteEntries", "Identity is not authenticated")
  await assert.rejects(client.write(other, "s", [opaqueBatch(1, 20)]), notMine)
  await assert.rejects(client.changes(other, "s").exit(), refusal("Changes", "Identity is not authenticated", { publicKey: other.publicKey }))
  await assert.rejects(
    client.call("EventLog.CompactionStatus", { publicKey: other.publicKey, storeId: "s" }),
    refusal("CompactionStatus", "Identity is not authenticated", { publicKey: other.publicKey, storeId: "s" })
  )
  const stranger = await connect(server.url)
  await assert.rejects(stranger.changes(mine, "s").exit(), refusal("EventLog.Changes", "Unauthenticated request"))
  await Promise.all([client.close(), stranger.close()])
})

test("a challenge is good for one attempt, on its own connection", async (t) => {
  const server = await startServer(t)
  const identity = makeIdentity()
  const client = await connect(server.url)
  const login = (hello, change = {}) => client.call("EventLog.Authenticate", { ...authentication(identity, hello), ...change })
  const expired = refusal("Authenticate", "Session auth challenge has expired")
  const invalid = refusal("Authenticate", "Session auth signature verification failed")
  const hello = await client.hello()
  assert.deepEqual(await client.hello(), hello, "the live challenge is shown again")
  await assert.rejects(login({ ...hello, challenge: new Uint8Array(32) }), invalid)
  await assert.rejects(login(hello), expired)
  const elsewhere = await connect(server.url)
  await assert.rejects(login(await elsewhere.hello()), expired)
  await client.hello()
  await assert.rejects(login(await elsewhere.hello()), invalid, "a signature for another connection")
  await login(await client.hello())
  await assert.rejects(login(await client.hello(), { signature: new Uint8Array(63) }), invalid)
  await Promise.all([client.close(), elsewhere.close()])
})

test("another signing key never replaces the bound one", async (t) => {
  const server = await startServer(t)
  const owner = makeIdentity()
  const thief = makeIdentity({ publicKey: owner.publicKey })
  const first = await connect(server.url)
  await first.login(owner)
  const second = await connect(server.url)
  await assert.rejects(second.login(thief), refusal("Authenticate", "Session auth signature verification failed"))
  await second.login(owner)
  await Promise.all([first.close(), second.close()])
})

test("a signing key of the wrong length is refused, also for a bound identity", oursOnly, async (t) => {
  const server = await startServer(t)
  const identity = makeIdentity()
  const client = await connect(server.url)
  for (let round = 0; round < 2; round++) {
    const short = { ...authentication(identity, await client.hello()), signingPublicKey: identity.signingPublicKey.subarray(1) }
    await assert.rejects(client.call("EventLog.Authenticate", short), refusal("Authenticate", "Session auth signature verification failed"))
    await client.login(identity)
  }
  await client.close()
})

test("a forged first authentication does not lock the owner out", oursOnly, async (t) => {
  const server = await startServer(t)
  const owner = makeIdentity()
  const forger = await connect(server.url)
  const forge = async (change) => {
    const forged = { ...authentication(makeIdentity({ publicKey: owner.publicKey }), await forger.hello()), ...change }
    await assert.rejects(forger.call("EventLog.Authenticate", forged), { code: "Forbidden" })
  }
  await forge({ signature: new Uint8Array(64) })
  await forge({ signingPublicKey: new Uint8Array(32) })
  await forge({ signingPublicKey: new Uint8Array(5) })
  await forge({ signingPublicKey: new Uint8Array(0) })
  const client = await connect(server.url)
  await client.login(owner)
  await client.write(owner, "s", [seal(owner, "s", [makeEntry("a", "mine")])])
  const device = await openDevice(t, { url: server.url, identity: owner })
  await device.note("a", "still mine")
  await device.synced()
  await Promise.all([client.close(), forger.close()])
})

test("a device logs in again by itself after its connection broke", async (t) => {
  const server = await startServer(t)
  const link = await startLink(t, server.url)
  const device = await openDevice(t, { url: link.url })
  const witness = await openDevice(t, { url: server.url, identity: device.identity })
  for (let round = 0; round < 3; round++) {
    await device.note(`mine ${round}`, "before the break")
    await device.synced()
    link.cut()
    await device.note(`mine ${round}`, "while broken")
    await witness.note(`theirs ${round}`, "meanwhile")
    await Promise.all([device.synced({ timeout: 20_000 }), device.holds(3 * (round + 1), { timeout: 20_000 })])
  }
  await witness.holds(9)
  assert.deepEqual(await device.entries(), await witness.entries())
})

test("two identities on one connection keep to their own stores", async (t) => {
  const server = await startServer(t)
  const connection = await openConnection(t, { url: server.url })
  const [anna, ben] = [await openDevice(t, { connection }), await openDevice(t, { connection })]
  await anna.notes([["a", "1"], ["b", "2"]])
  await ben.notes([["a", "3"]])
  await Promise.all([anna.synced(), ben.synced()])
  const others = await Promise.all([anna, ben].map(({ identity }) => openDevice(t, { url: server.url, identity })))
  await Promise.all([others[0].holds(2), others[1].holds(1)])
  await others[1].note("c", "4")
  await until("the live entry", async () => (await ben.entries()).length === 2)
  assert.deepEqual(await others[0].entries(), await anna.entries())
  assert.deepEqual(await others[1].entries(), await ben.entries())
  assert.equal((await anna.entries()).length, 2)
})
