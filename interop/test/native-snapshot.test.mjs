import assert from "node:assert/strict"
import { test } from "node:test"
import * as NodeSocketServer from "@effect/platform-node/NodeSocketServer"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as EventLogServerEncrypted from "effect/eventlog/EventLogServerEncrypted"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as RpcSerialization from "effect/rpc/RpcSerialization"
import * as RpcServer from "effect/rpc/RpcServer"
import * as Scope from "effect/Scope"
import * as SocketServer from "effect/socket/SocketServer"
import { openDevice } from "../lib/device.mjs"
import { isLong, noise } from "../lib/harness.mjs"
import { makeIdentity, seal } from "../lib/identity.mjs"
import { slow, startLink } from "../lib/link.mjs"
import { openNativeDevice } from "../lib/native-device.mjs"
import { startServer } from "../lib/server.mjs"

/** effect's server in this process: its address and its storage. */
const startEffectServer = async (t) => {
  const scope = Scope.makeUnsafe()
  t.after(() => Effect.runPromise(Scope.close(scope, Exit.void)))
  const layer = EventLogServerEncrypted.layer.pipe(
    Layer.provide(RpcServer.layerProtocolSocketServer),
    Layer.provideMerge(NodeSocketServer.layerWebSocket({ host: "127.0.0.1", port: 0 })),
    Layer.provide(RpcSerialization.layerSchemaBinary({})),
    Layer.provideMerge(EventLogServerEncrypted.layerStorageMemory)
  )
  const context = await Effect.runPromise(Layer.buildWithScope(layer, scope))
  const { address } = Context.get(context, SocketServer.SocketServer)
  return { url: `ws://127.0.0.1:${address.port}`, storage: Context.get(context, EventLogServerEncrypted.Storage) }
}

/** Replaces everything up to the head by a snapshot that keeps these entries; resolves with its activation id. */
const commitSnapshot = async ({ storage: { compaction } }, identity, kept) => {
  const scope = [identity.publicKey, "default"]
  const { head } = await Effect.runPromise(compaction.status(...scope))
  const { stageId } = await Effect.runPromise(compaction.begin(...scope, { through: head }))
  await Effect.runPromise(compaction.stagePart(...scope, stageId, 0, [seal(identity, "default", kept)]))
  assert.equal(await Effect.runPromise(compaction.commit(...scope, stageId, [head - kept.length + 1])), "Committed")
  return (await Effect.runPromise(compaction.history(...scope))).find((activation) => activation.active).activationId
}

test("a device of ours starts from a snapshot of effect's server, and a rollback there reaches it", async (t) => {
  const server = await startEffectServer(t)
  const effect = await openDevice(t, { url: server.url })
  const { identity } = effect
  for (let round = 0; round < 20; round++) await effect.note(`n${round % 4}`, `round ${round}`)
  await effect.synced()
  const everything = await effect.entries()
  const early = await openNativeDevice(t, identity)
  assert.equal((await early.sync(server.url)).received, 20)

  const raw = ({ id, event, primaryKey, payload }) =>
    ({ id: Buffer.from(id, "hex"), event, primaryKey, payload: Buffer.from(payload, "hex") })
  const kept = everything.slice(-4)
  const activation = await commitSnapshot(server, identity, kept.map(raw))
  const late = await openNativeDevice(t, identity)
  const following = late.startSync(server.url)
  await following.until("the snapshot", (state) => state.caughtUp && state.received === 4)

  await effect.note("n9", "behind the snapshot")
  await following.until("what came behind it", (state) => state.received === 5)
  const { compaction } = server.storage
  await Effect.runPromise(compaction.rollback(identity.publicKey, "default", activation))
  await following.until("what the rollback brought back", (state) => state.received === 21)
  assert.deepEqual(following.state.notices, undefined)
  assert.equal(await following.stop(), 0)
  const state = await early.sync(server.url)
  assert.deepEqual([state.received, state.notices], [1, undefined])

  const expected = await effect.entries()
  assert.equal(expected.length, 21)
  assert.deepEqual(await late.entries(), expected)
  assert.deepEqual(await early.entries(), expected)
})

test("over a slow link a device of ours takes in a backlog that effect's server sends as one message", { timeout: 600_000 }, async (t) => {
  const server = await startServer(t, { kind: "reference" })
  const identity = makeIdentity()
  const effect = await openDevice(t, { url: server.url, identity })
  const size = isLong ? 1_500_000 : 450_000
  for (let written = 0; written < size; written += 50_000) await effect.blob(`b${written}`, noise(50_000))
  await effect.synced()
  const link = await startLink(t, server.url, { up: slow, down: slow })
  const native = await openNativeDevice(t, identity)
  const start = performance.now()
  const state = await native.sync(link.url)
  const seconds = (performance.now() - start) / 1000
  assert.equal(state.received, size / 50_000)
  assert.equal(link.connections, 1, "the first connection held")
  // Connecting and logging in take about two seconds on this link.
  const used = (size * 8) / (slow.bitsPerSecond * seconds)
  assert.ok(used > (isLong ? 0.85 : 0.65), `the link was used to ${Math.round(used * 100)} %`)
  assert.deepEqual(await native.entries(), await effect.entries())
})
