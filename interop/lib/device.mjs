/** A device: the unchanged effect event log with one store, syncing through a server. */
import { setTimeout as sleep } from "node:timers/promises"
import * as NodeSocket from "@effect/platform-node/NodeSocket"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as EventGroup from "effect/eventlog/EventGroup"
import * as EventJournal from "effect/eventlog/EventJournal"
import * as EventLog from "effect/eventlog/EventLog"
import * as EventLogRemote from "effect/eventlog/EventLogRemote"
import * as SqlEventJournal from "effect/eventlog/SqlEventJournal"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Redacted from "effect/Redacted"
import * as RpcClient from "effect/rpc/RpcClient"
import * as RpcSerialization from "effect/rpc/RpcSerialization"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import { toHex } from "./bytes.mjs"
import { until } from "./harness.mjs"
import { makeIdentity } from "./identity.mjs"
import * as Sqlite from "./sqlite.mjs"

const Records = EventGroup.empty
  .add({
    tag: "Note",
    primaryKey: (payload) => payload.id,
    payload: Schema.Struct({ id: Schema.String, text: Schema.String })
  })
  .add({
    tag: "Blob",
    primaryKey: (payload) => payload.id,
    payload: Schema.Struct({ id: Schema.String, data: Schema.Uint8Array })
  })

const schema = EventLog.schema(Records)

const socketLayer = (url) => {
  if (!url.startsWith("tcp://")) return NodeSocket.layerWebSocket(url)
  const { hostname, port } = new URL(url)
  return NodeSocket.layerNet({ host: hostname, port: Number(port) })
}

const protocolLayer = ({ url, fingerprintPayloads = false, maxFrameSize, pingInterval }) =>
  RpcClient.layerProtocolSocket({ pingInterval }).pipe(
    Layer.provide(socketLayer(url)),
    Layer.provide(RpcSerialization.layerSchemaBinary({ fingerprintPayloads, maxFrameSize }))
  )

/** Opens one connection that several devices may share; takes the connection options of {@link openDevice}. */
export const openConnection = async (t, options) => {
  const scope = Scope.makeUnsafe()
  t?.after(() => Effect.runPromise(Scope.close(scope, Exit.void)))
  const built = await Effect.runPromise(Layer.buildWithScope(protocolLayer(options), scope))
  return { protocol: Context.get(built, RpcClient.Protocol), close: () => Effect.runPromise(Scope.close(scope, Exit.void)) }
}

/** Opens an effect event log and lets it say hello; it is closed when the test `t` (may be absent) ends. Options:
 *
 * - `url` (`ws://…` or `tcp://…`) with `fingerprintPayloads`, `maxFrameSize`, `pingInterval`; or an open `connection`;
 * - `identity` of identity.mjs (default: a new one), `storeId` (default `"default"`);
 * - `file`: keep the journal in this SQLite file instead of memory;
 * - `compaction`: set it to false to never make compaction calls; `onEntry(event, payload)`: called by the handlers.
 */
export const openDevice = async (t, options) => {
  const device = new Device(options)
  t?.after(() => device.close())
  await device.open()
  return device
}

export class Device {
  /** Acknowledged entries: id in hex to the server's sequence. */
  acks = new Map()
  /** Local entries, by id in hex, in the order they were written. */
  written = []
  /** How many entries were imported from the server so far. */
  imported = 0
  /** Warnings and errors effect logged, as text. */
  logs = []
  #runtime

  constructor({ identity = makeIdentity(), storeId = "default", ...options }) {
    Object.assign(this, { identity, storeId, options })
  }

  async open() {
    this.#runtime = ManagedRuntime.make(this.#layer())
    this.log = await this.#runtime.runPromise(EventLog.EventLog)
    this.journal = await this.#runtime.runPromise(EventJournal.EventJournal)
    return this
  }

  #layer() {
    const { connection, compaction, file } = this.options
    const protocol = connection ? Layer.succeed(RpcClient.Protocol)(connection.protocol) : protocolLayer(this.options)
    const journal = file
      ? SqlEventJournal.layer().pipe(Layer.provide(Sqlite.layer({ filename: file })))
      : EventJournal.layerMemory
    const identity = {
      publicKey: this.identity.publicKey,
      privateKey: Redacted.make(this.identity.rootSecret)
    }
    return EventLogRemote.layerEncryptedWith({ compaction }).pipe(
      Layer.provideMerge(EventLog.layer(schema, this.#handlers())),
      Layer.provide(protocol),
      Layer.provideMerge(this.#observed(journal)),
      Layer.provide(Layer.succeed(EventLog.Identity)(identity)),
      Layer.provide(Layer.succeed(EventLog.CurrentStoreId)(this.storeId)),
      Layer.provide(Logger.layer([Logger.make((entry) => this.#record(entry))]))
    )
  }

  #record({ logLevel, message, cause }) {
    if (logLevel === "Debug" || logLevel === "Trace" || logLevel === "Info") return
    this.logs.push(`${logLevel} ${[message].flat().map(String).join(" ")} ${cause ?? ""}`.trim())
  }

  #handlers() {
    const handle = (event) => ({ payload }) => Effect.sync(() => this.options.onEntry?.(event, payload))
    return EventLog.group(Records, (handlers) => handlers.handle("Note", handle("Note")).handle("Blob", handle("Blob")))
  }

  /** The journal, with what happens in it written down here. */
  #observed(layer) {
    const observe = (journal) => EventJournal.EventJournal.of({
      ...journal,
      writeMany: (options) => Effect.flatMap(
        journal.writeMany({ ...options, effect: (entries) => Effect.map(options.effect(entries), (result) => [result, entries]) }),
        ([result, entries]) => Effect.sync(() => {
          for (const entry of entries) this.written.push(toHex(entry.id))
          return result
        })
      ),
      writeFromRemote: (options) => Effect.tap(journal.writeFromRemote(options), ({ duplicateEntries }) => Effect.sync(() => {
        this.imported += options.entries.length - duplicateEntries.length
      })),
      writeRemoteAcks: (options) => Effect.tap(journal.writeRemoteAcks(options), () => Effect.sync(() => {
        for (const { entryId, sequence } of options.acks) this.acks.set(toHex(entryId), sequence)
      }))
    })
    return Layer.effect(EventJournal.EventJournal, Effect.map(EventJournal.EventJournal, observe)).pipe(Layer.provide(layer))
  }

  #write(events) {
    return this.#runtime.runPromise(this.log.writeMany({ schema, events }))
  }

  /** Writes one note. */
  note(id, text) {
    return this.#write([{ event: "Note", payload: { id, text } }])
  }

  /** Writes several notes `[id, text]` at once. */
  notes(pairs) {
    return this.#write(pairs.map(([id, text]) => ({ event: "Note", payload: { id, text } })))
  }

  /** Writes one entry whose payload is these bytes. */
  blob(id, data) {
    return this.#write([{ event: "Blob", payload: { id, data } }])
  }

  /** All entries of the journal in id order, as plain values. */
  async entries() {
    const entries = await this.#runtime.runPromise(this.log.entries)
    return entries.map(({ id, event, primaryKey, payload }) => ({ id: toHex(id), event, primaryKey, payload: toHex(payload) }))
  }

  /** How many entries the journal holds. */
  get count() {
    return this.written.length + this.imported
  }

  /** Waits until the journal holds this many entries. */
  async holds(count, options) {
    await until(`${count} entries (there are ${this.count})`, () => this.count >= count, options).catch((error) => {
      throw new Error(`${error.message}; now ${this.count}; logged: ${this.logs.slice(-3).join(" | ") || "nothing"}`)
    })
    return this
  }

  /** Waits until the server acknowledged everything written here. */
  async synced(options) {
    await until("acknowledgements", () => this.acks.size >= this.written.length, options).catch((error) => {
      throw new Error(`${error.message}; ${this.acks.size} of ${this.written.length}; logged: ${this.logs.slice(-3).join(" | ") || "nothing"}`)
    })
    return this
  }

  /** Next sequence this device has not seen, for the only remote of the test. */
  cursor(remoteId) {
    return this.#runtime.runPromise(this.journal.nextRemoteSequence(remoteId))
  }

  async close() {
    await Promise.race([this.#runtime.dispose(), sleep(5_000, undefined, { ref: false })])
  }
}
