/**
 * effect's own encrypted event-log server, with the command line of ours:
 *
 *   reference-server.mjs --listen HOST:PORT [--listen-tcp HOST:PORT] --data DIR|:memory: [--fingerprint-payloads] [--max-frame unbounded]
 *
 * A folder means its SQL storage on SQLite, `:memory:` its memory storage.
 */
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { parseArgs } from "node:util"
import * as NodeSocketServer from "@effect/platform-node/NodeSocketServer"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as EventLogServerEncrypted from "effect/eventlog/EventLogServerEncrypted"
import * as SqlEventLogServerEncrypted from "effect/eventlog/SqlEventLogServerEncrypted"
import * as RpcSerialization from "effect/rpc/RpcSerialization"
import * as RpcServer from "effect/rpc/RpcServer"
import * as SocketServer from "effect/socket/SocketServer"
import * as Sqlite from "./sqlite.mjs"

const { values: options } = parseArgs({
  options: {
    listen: { type: "string", default: "127.0.0.1:7070" },
    "listen-tcp": { type: "string" },
    data: { type: "string", default: ":memory:" },
    synchronous: { type: "string", default: "FULL" },
    "fingerprint-payloads": { type: "boolean", default: false },
    "max-frame": { type: "string" }
  }
})

const storage = () => {
  if (options.data === ":memory:") return EventLogServerEncrypted.layerStorageMemory
  mkdirSync(options.data, { recursive: true })
  return SqlEventLogServerEncrypted.layerStorageSubtle().pipe(
    Layer.provide(Sqlite.layer({ filename: join(options.data, "events.sqlite"), synchronous: options.synchronous }))
  )
}

const announce = (scheme) =>
  Layer.effectDiscard(Effect.map(SocketServer.SocketServer, ({ address }) => {
    console.log(`listening on ${scheme}://${address.hostname ?? address.address}:${address.port}`)
  }))

const listener = (scheme, layer, address) => {
  const [host, port] = address.split(":")
  return Layer.merge(EventLogServerEncrypted.layer.pipe(Layer.provide(RpcServer.layerProtocolSocketServer)), announce(scheme)).pipe(
    Layer.provide(layer({ host, port: Number(port) })),
    Layer.provide(RpcSerialization.layerSchemaBinary({
      fingerprintPayloads: options["fingerprint-payloads"],
      maxFrameSize: options["max-frame"]
    })),
    Layer.fresh
  )
}

const listeners = [listener("ws", NodeSocketServer.layerWebSocket, options.listen)]
if (options["listen-tcp"]) listeners.push(listener("tcp", NodeSocketServer.layer, options["listen-tcp"]))

const main = Layer.launch(Layer.mergeAll(...listeners).pipe(Layer.provide(storage())))
const fiber = Effect.runFork(main)
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(0))
fiber.addObserver((exit) => {
  console.error(String(exit.cause ?? "stopped"))
  process.exit(1)
})
