/** A raw client of the sync protocol: every byte is under the caller's control, acknowledgements included. */
import { once } from "node:events"
import { connect as connectTcp } from "node:net"
import { WebSocket } from "ws"
import * as envelope from "./envelope.mjs"
import { authentication } from "./identity.mjs"
import { decodeBatches, decodeExit, decodeItems, encodeWrite, Joiner, partSize, payloads, split } from "./messages.mjs"

/** Opens a connection to `ws://HOST:PORT` or `tcp://HOST:PORT`. */
export const connect = async (url, options = {}) => {
  const socket = url.startsWith("tcp://") ? await openTcp(url) : await openWebSocket(url, options)
  return new WireClient(socket)
}

const openWebSocket = async (url, options) => {
  const socket = new WebSocket(url, { perMessageDeflate: false, ...options })
  await once(socket, "open")
  return {
    send: (bytes, options) => new Promise((resolve) => socket.send(bytes, options, () => resolve())),
    onData: (take) => socket.on("message", take),
    onClose: (take) => socket.on("close", (code, reason) => take({ code, reason: reason.toString() })),
    onError: (take) => socket.on("error", take),
    close: () => socket.close(1000),
    terminate: () => socket.terminate(),
    pause: () => socket.pause(),
    resume: () => socket.resume()
  }
}

const openTcp = async (url) => {
  const { hostname, port } = new URL(url)
  const socket = connectTcp({ host: hostname, port: Number(port), noDelay: true })
  await once(socket, "connect")
  return {
    send: (bytes, _options) => new Promise((resolve) => socket.write(bytes, () => resolve())),
    onData: (take) => socket.on("data", take),
    onClose: (take) => socket.on("close", () => take({ code: undefined, reason: "" })),
    onError: (take) => socket.on("error", take),
    close: () => socket.end(),
    terminate: () => socket.destroy(),
    pause: () => socket.pause(),
    resume: () => socket.resume()
  }
}

export class WireClient {
  /** Every envelope received, in order, as `{ kind, bytes, … }`; long-lived tests may clear it. */
  received = []
  /** Settles with `{ code, reason }` when the connection ends. */
  closed
  #socket
  #stream = new envelope.EnvelopeStream()
  #waiting = new Map()
  #watchers = new Set()
  #nextId = 0
  #end

  constructor(socket) {
    this.#socket = socket
    this.closed = new Promise((resolve) => socket.onClose(resolve))
    this.closed.then((end) => this.#failAll(new Error(`connection closed: ${end.code} ${end.reason}`.trim())))
    socket.onError(() => {})
    socket.onData((piece) => this.#take(piece))
  }

  #take(piece) {
    for (const message of this.#stream.push(new Uint8Array(piece.buffer, piece.byteOffset, piece.length))) {
      this.received.push(message)
      this.#waiting.get(message.requestId)?.(message)
      for (const watcher of this.#watchers) watcher(message)
    }
  }

  #failAll(error) {
    this.#end = error
    for (const take of this.#waiting.values()) take({ kind: "Closed", error })
    this.#waiting.clear()
    for (const watcher of this.#watchers) watcher({ kind: "Closed", error })
  }

  /** Sends bytes as they are; resolves when the socket took them. */
  send(...parts) {
    return this.#socket.send(Buffer.concat(parts), { binary: true })
  }

  /** Sends a text, in a text message unless `binary`. */
  sendText(message, binary = false) {
    return this.#socket.send(Buffer.from(message), { binary })
  }

  /** The next envelope of a kind that arrives after this call. */
  next(kind) {
    return new Promise((resolve, reject) => {
      if (this.#end) return reject(this.#end)
      const watcher = (message) => {
        if (message.kind !== kind && message.kind !== "Closed") return
        this.#watchers.delete(watcher)
        return message.kind === kind ? resolve(message) : reject(message.error)
      }
      this.#watchers.add(watcher)
    })
  }

  /** Sends a request with a hand-made payload and waits for its Exit envelope. */
  exchange(tag, payload, { id = this.#nextId++, ...options } = {}) {
    const answer = new Promise((resolve, reject) => {
      if (this.#end) return reject(this.#end)
      this.#waiting.set(id, (message) => {
        this.#waiting.delete(id)
        return message.kind === "Closed" ? reject(message.error) : resolve(message)
      })
    })
    this.send(envelope.request(id, tag, payload, options))
    return answer
  }

  /** Calls by name; resolves with the decoded answer, rejects with a `CallError`. */
  async call(tag, value, options) {
    const message = await this.exchange(tag, value === undefined ? undefined : payloads[tag](value), options)
    return decodeExit(tag, message.exit)
  }

  hello() {
    return this.call("EventLog.Hello")
  }

  /** Says hello and logs in; resolves with the hello answer. */
  async login(identity) {
    const hello = await this.hello()
    await this.call("EventLog.Authenticate", authentication(identity, hello))
    return hello
  }

  /** Writes batches in one call, or in parts when they are too long for one; resolves with the acks. */
  async write(identity, storeId, batches, { id = this.#nextId } = {}) {
    const data = encodeWrite({ publicKey: identity.publicKey, storeId, batches })
    if (data.length <= partSize) return this.call("EventLog.WriteSingle", { data })
    const answers = []
    for (const part of split(id, data)) answers.push(await this.call("EventLog.WriteChunked", part))
    return answers.flat()
  }

  /** Opens a change stream; see {@link ChangeStream}. */
  changes(identity, storeId, startSequence = 0, options = {}) {
    const id = options.id ?? this.#nextId++
    const stream = new ChangeStream(this, id, options)
    this.#waiting.set(id, (message) => {
      if (message.kind !== "Chunk") this.#waiting.delete(id)
      stream.take(message)
    })
    this.send(envelope.request(id, "EventLog.Changes", payloads["EventLog.Changes"]({
      publicKey: identity.publicKey,
      storeId,
      startSequence
    })))
    return stream
  }

  /** Sends a Ping and resolves when a Pong arrives. */
  async ping() {
    const pong = this.next("Pong")
    this.send(envelope.ping)
    await pong
  }

  close() {
    this.#socket.close()
    return this.closed
  }

  terminate() {
    this.#socket.terminate()
    return this.closed
  }

  /** Stops reading from the socket, so that the server's sends back up. */
  pause() {
    this.#socket.pause()
  }

  resume() {
    this.#socket.resume()
  }
}

/** A change stream: acknowledges every Chunk unless `manual`, and collects the batches of complete messages. */
export class ChangeStream {
  /** Batches so far, `{ sequence, entryIds, iv, encryptedBatch }`. */
  batches = []
  /** Bytes of each Chunk's items, in order of arrival. */
  chunkSizes = []
  /** The Exit of the stream or the end of its connection, once there. */
  ended
  #joiner = new Joiner()
  #wakers = new Set()

  constructor(client, id, { manual = false, keep = true } = {}) {
    Object.assign(this, { client, id, manual, keep, firstAt: undefined, entryCount: 0 })
  }

  take(message) {
    if (message.kind === "Chunk") this.#takeChunk(message)
    else this.ended = message
    for (const waker of this.#wakers) waker()
  }

  #takeChunk(message) {
    this.firstAt ??= performance.now()
    this.chunkSizes.push(message.values.length)
    for (const item of decodeItems(message.values)) {
      const data = this.#joiner.push(item)
      if (data === undefined) continue
      const batches = decodeBatches(data)
      for (const batch of batches) this.entryCount += batch.entryIds.length
      if (this.keep) this.batches.push(...batches)
    }
    if (!this.manual) this.ack()
  }

  /** Acknowledges the Chunk that is out. */
  ack() {
    return this.client.send(envelope.ack(this.id))
  }

  interrupt() {
    return this.client.send(envelope.interrupt(this.id))
  }

  /** Waits until `ready(stream)` holds; fails when the stream ends first or the time is up. */
  until(ready, { timeout = 10_000, what = "the change stream" } = {}) {
    return new Promise((resolve, reject) => {
      const settle = (finish, value) => {
        clearTimeout(timer)
        this.#wakers.delete(check)
        finish(value)
      }
      const check = () => {
        if (ready(this)) settle(resolve, this)
        else if (this.ended) settle(reject, this.ended.error ?? new Error(`${what} ended early`))
      }
      const timer = setTimeout(() => {
        settle(reject, new Error(`${what}: still waiting after ${timeout} ms with ${this.entryCount} entries`))
      }, timeout)
      this.#wakers.add(check)
      check()
    })
  }

  /** Waits for a number of entries. */
  entries(count, options) {
    return this.until((stream) => stream.entryCount >= count, { what: `${count} entries`, ...options })
  }

  /** Waits for the Exit and returns its decoded answer, or throws its `CallError`. */
  async exit(options) {
    await this.until((stream) => stream.ended, options)
    if (this.ended.error) throw this.ended.error
    return decodeExit("EventLog.Changes", this.ended.exit)
  }

  /** Every entry id with its sequence, in order of arrival. */
  positions() {
    return this.batches.flatMap((batch) => batch.entryIds.map((id, index) => [Buffer.from(id).toString("hex"), batch.sequence + index]))
  }
}
