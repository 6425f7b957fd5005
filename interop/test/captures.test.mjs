import assert from "node:assert/strict"
import { test } from "node:test"
import { toHex } from "../lib/bytes.mjs"
import * as envelope from "../lib/envelope.mjs"
import { isReference } from "../lib/harness.mjs"
import { replay } from "../lib/replay.mjs"
import { startServer } from "../lib/server.mjs"
import { connect } from "../lib/wire.mjs"

const firstSequence = async (url) => {
  const client = await connect(url)
  const { firstSequence = 0 } = await client.hello()
  await client.close()
  return firstSequence
}

const play = async (t, name, { tcp = false, fingerprinted = false } = {}) => {
  const reference = fingerprinted ? ["--fingerprint-payloads"] : []
  const server = await startServer(t, { tcp, dataDir: ":memory:", args: isReference ? reference : [] })
  const first = isReference ? 0 : await firstSequence(server.url)
  await replay(tcp ? server.tcpUrl : server.url, name, { first })
}

test("unknown calls, odd ids, bad payloads, failed logins and malformed frames are answered as recorded",
  (t) => play(t, "edge-schemabinary"))

test("a device's first session is answered as recorded", (t) => play(t, "encrypted-basic-schemabinary"))

test("the same with fingerprinted payloads", (t) => play(t, "encrypted-basic-schemabinary-fp", { fingerprinted: true }))

test("the same over TCP", (t) => play(t, "encrypted-basic-tcp", { tcp: true }))

test("hello has the documented bytes", { skip: isReference && "the reference writes an undefined field" }, async (t) => {
  const server = await startServer(t)
  const client = await connect(server.url)
  const { bytes } = await client.exchange("EventLog.Hello")
  const value = "f083f23920.{64}c09ceff744020101f0a38ebc5710.{32}"
  const head = "21a71fbf488612ff6b01020000"
  assert.match(toHex(bytes), new RegExp(`^(54${head}46452000${value}|5c${head}4e4d2000${value}e0bc96f95a0204..)$`))
  await client.close()
})

test("the raw client writes envelopes as documented", () => {
  assert.equal(toHex(envelope.ping), "0a21a71fbf488612ff6b03")
  assert.equal(toHex(envelope.eof), "0a21a71fbf488612ff6b04")
  assert.equal(toHex(envelope.ack("abc")), "0f21a71fbf488612ff6b000401616263")
  assert.equal(toHex(envelope.ack(300)), "0e21a71fbf488612ff6b000300d804")
  assert.equal(toHex(envelope.interrupt(4)), "0d21a71fbf488612ff6b08020008")
  assert.equal(toHex(envelope.request(0, "EventLog.Hello")), "2221a71fbf488612ff6b07000201200200000e4576656e744c6f672e48656c6c6f0100")
})
