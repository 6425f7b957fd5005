import assert from "node:assert/strict"
import { once } from "node:events"
import { connect as connectTcp } from "node:net"
import { test } from "node:test"
import { WebSocket } from "ws"
import { concat, hex, text, uvarint } from "../lib/bytes.mjs"
import { ping, request } from "../lib/envelope.mjs"
import { noise, oursOnly, sleep, within } from "../lib/harness.mjs"
import { opaqueBatch } from "../lib/identity.mjs"
import { decodeDefect, payloads } from "../lib/messages.mjs"
import { startServer } from "../lib/server.mjs"
import { openSession } from "../lib/session.mjs"
import { connect } from "../lib/wire.mjs"

const maxFrame = 16 * 1_048_576

/** The clear error for bytes that are no frame: a Defect, or the end of the connection with a code and a reason. */
const complaint = async (client) => {
  const defect = client.next("Defect").then(({ defect }) => ({ message: JSON.stringify(decodeDefect(defect)) }))
  return within(5_000, "an error", Promise.race([defect, client.closed.then(({ code, reason }) => ({ code, message: reason }))]))
}

/** A test on a server with another connection, which must be served afterwards as before. */
const hostile = (name, attack, options = {}) =>
  test(name, options, async (t) => {
    const server = await startServer(t, { tcp: true })
    const witness = await openSession(t, server)
    await attack(server, t)
    assert.equal((await within(5_000, "service for others", witness.write("s", [opaqueBatch(1, 10)]))).length, 1)
  })

const malformed = {
  "a length of 16 MiB and a byte": uvarint(maxFrame + 1),
  "a length of 2^53": uvarint(2 ** 53 - 1),
  "a length that never ends": new Uint8Array(20).fill(0x80),
  "an empty frame": hex("00"),
  "another version": hex("0a 31 a71fbf488612ff6b 03"),
  "another fingerprint": hex("0a 21 a71fbf488612ff6c 03"),
  "an unknown kind": hex("0a 21 a71fbf488612ff6b 09"),
  "a Ping with a tail": hex("0b 21 a71fbf488612ff6b 03 00"),
  "a Request without fields": hex("0a 21 a71fbf488612ff6b 07"),
  "noise": hex("ff".repeat(64))
}

for (const [name, bytes] of Object.entries(malformed)) {
  hostile(`${name} is a clear error`, async (server) => {
    for (const url of [server.url, server.tcpUrl]) {
      const client = await connect(url)
      const error = complaint(client)
      client.send(bytes)
      const { message } = await error
      if (url === server.url) assert.ok(message.length > 8, `says ${message}`)
      client.terminate()
    }
  })
}

hostile("envelopes before a malformed one are answered", async (server) => {
  const client = await connect(server.url)
  const pong = client.next("Pong")
  const error = complaint(client)
  client.send(ping, hex("ff".repeat(16)))
  await pong
  client.send(ping)
  await error
  client.terminate()
})

hostile("a frame just below 16 MiB is taken, one above is refused by its length", async (server, t) => {
  const { client } = await openSession(t, server)
  const call = client.call("EventLog.WriteSingle", { data: noise(maxFrame - 200) })
  await assert.rejects(within(20_000, "the answer to a large call", call), { code: "InternalServerError" })
  await client.ping()
  const error = complaint(client)
  client.send(request(77, "EventLog.WriteSingle", payloads["EventLog.WriteSingle"]({ data: noise(maxFrame) })))
  const { code, message } = await error
  assert.ok(code === 1009 || message.length > 8, `got close ${code}, ${message}`)
})

hostile("a cut-off frame, and one that trickles in for ever, harm nobody", async (server) => {
  for (const url of [server.url, server.tcpUrl]) {
    const cut = await connect(url)
    cut.send(request(1, "EventLog.Hello").subarray(0, 12))
    await cut.terminate()
    const trickle = await connect(url)
    trickle.send(concat(uvarint(maxFrame), hex("21 a71fbf488612ff6b 07")))
    for (let count = 0; count < 40; count++) {
      trickle.send(noise(1))
      await sleep(10)
    }
    const other = await connect(url)
    await other.hello()
    await Promise.all([other.close(), trickle.terminate()])
  }
})

hostile("an envelope may be cut anywhere: over messages, fragments and segments", async (server) => {
  const bytes = concat(request(1, "EventLog.Hello"), ping, request("two", "EventLog.Hello"))
  for (const url of [server.url, server.tcpUrl]) {
    const client = await connect(url)
    const pong = client.next("Pong")
    for (const byte of bytes) await client.send(Uint8Array.of(byte))
    await client.send(new Uint8Array())
    await pong
    await client.ping()
    assert.deepEqual(client.received.map(({ requestId }) => requestId).filter((id) => id !== undefined).toSorted(), [1, "two"])
    await client.close()
  }
  const socket = new WebSocket(server.url)
  await once(socket, "open")
  socket.send(ping.subarray(0, 4), { fin: false })
  socket.send(ping.subarray(4, 8), { fin: false })
  socket.send(ping.subarray(8), { fin: true })
  const [answer] = await within(5_000, "a Pong", once(socket, "message"))
  assert.equal(answer.length, 11)
  socket.terminate()
})

hostile("bytes that are no WebSocket at all are refused", async (server) => {
  const { hostname, port } = new URL(server.url)
  for (const bytes of [noise(300), text("GET / HTTP/1.1\r\nHost: x\r\n\r\n"), text("POST /rpc HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc"), hex("160301020001000001fc0303")]) {
    const socket = connectTcp({ host: hostname, port: Number(port) })
    socket.on("error", () => {})
    socket.resume()
    socket.write(bytes)
    await sleep(100)
    socket.destroy()
  }
})

hostile("a client that speaks JSON is told so", async (server) => {
  const messages = [
    `{"_tag":"Request","id":0,"tag":"EventLog.Hello","payload":null,"headers":[]}`,
    `{"_tag":"Request","id":"0","tag":"EventLog.Hello","payload":null,"headers":[]}\n`,
    `{"jsonrpc":"2.0","method":"EventLog.Hello","params":null,"id":0}`,
    `[{"_tag":"Ping"}]`
  ]
  for (const message of messages) {
    for (const binary of [false, true]) {
      const client = await connect(server.url)
      client.sendText(message, binary)
      const { code, reason } = await within(5_000, "the close", client.closed)
      assert.match(reason, /JSON/i, message)
      assert.match(reason, /SchemaBinary/i, message)
      assert.ok(code >= 1002 && code < 5_000, `code ${code}`)
    }
  }
}, oursOnly)
