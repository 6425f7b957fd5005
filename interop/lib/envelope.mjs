/** RPC envelopes: one frame with a fixed fingerprint each, nine kinds, opaque parts kept as bytes. */
import { concat, hex, Reader, sized, text, uvarint, untext, varint } from "./bytes.mjs"

const head = concat(Uint8Array.of(0x21), hex("a71fbf488612ff6b"))

/** Position of each envelope kind in the union of all. */
export const kinds = ["Ack", "Exit", "Defect", "Ping", "Eof", "Chunk", "Pong", "Request", "Interrupt"]

const envelope = (kind, ...fields) => sized(head, Uint8Array.of(kinds.indexOf(kind)), ...fields)

const id = (value) =>
  typeof value === "number" ? sized(Uint8Array.of(0), varint(value)) : sized(Uint8Array.of(1), text(value))

const textOption = (value) => sized(Uint8Array.of(1), text(value))
const trueOption = sized(Uint8Array.of(0, 1))
const header = ([name, value]) => sized(sized(text(name)), sized(text(value)))

/** The payload of calls without one. */
export const nothing = hex("01 20")

/** A Request envelope; `options` may hold headers, spanId, traceId, sampled, isNotification, discard. */
export const request = (requestId, tag, payload = nothing, options = {}) => {
  const present = ["spanId", "sampled", "traceId", "isNotification", "discard"].map((name) => options[name] !== undefined)
  const part = (index, bytes) => (present[index] ? bytes() : new Uint8Array())
  return envelope(
    "Request",
    Uint8Array.of(present.reduce((bits, bit, index) => bits + (bit ? 1 << index : 0), 0)),
    part(0, () => textOption(options.spanId)),
    sized(payload),
    id(requestId),
    part(1, () => sized(Uint8Array.of(0, options.sampled ? 1 : 0))),
    sized(text(tag)),
    part(2, () => textOption(options.traceId)),
    sized(uvarint((options.headers ?? []).length), ...(options.headers ?? []).map(header)),
    part(3, () => trueOption),
    part(4, () => trueOption)
  )
}

export const ack = (requestId) => envelope("Ack", id(requestId))
export const interrupt = (requestId) => envelope("Interrupt", id(requestId))
export const ping = envelope("Ping")
export const eof = envelope("Eof")
export const pong = envelope("Pong")

const readId = (reader) => {
  const part = new Reader(reader.sized())
  return part.byte() === 0 ? part.varint() : untext(part.rest())
}

/** Reads the envelopes a server sends: `{ kind, requestId?, exit?, values?, defect?, bytes }`. */
export const parse = (bytes) => {
  const reader = new Reader(bytes)
  const body = new Reader(reader.sized())
  if (Buffer.compare(body.take(9), head) !== 0) throw new Error("not an envelope of this protocol")
  const kind = kinds[body.byte()]
  const message = { kind, bytes }
  if (kind === "Exit") return { ...message, requestId: readId(body), exit: body.sized() }
  if (kind === "Chunk") return { ...message, values: body.sized(), requestId: readId(body) }
  if (kind === "Defect") return { ...message, defect: body.sized() }
  return message
}

/** Cuts a byte stream into envelopes, whatever the pieces it arrives in. */
export class EnvelopeStream {
  #pending = []
  #length = 0
  #wanted = 0

  /** Takes the next piece and returns the envelopes that are now complete. */
  push(piece) {
    this.#pending.push(piece)
    this.#length += piece.length
    if (this.#length < this.#wanted) return []
    let bytes = this.#pending.length === 1 ? piece : concat(...this.#pending)
    const envelopes = []
    for (;;) {
      this.#wanted = frameLength(bytes)
      if (bytes.length < this.#wanted) break
      envelopes.push(parse(bytes.subarray(0, this.#wanted)))
      bytes = bytes.subarray(this.#wanted)
    }
    this.#pending = [bytes]
    this.#length = bytes.length
    return envelopes
  }
}

/** Bytes of the frame that starts here, or one more than there are while its length is still incomplete. */
const frameLength = (bytes) => {
  let length = 0
  for (let index = 0, scale = 1; index < bytes.length; index++, scale *= 128) {
    length += (bytes[index] & 127) * scale
    if (bytes[index] < 128) return index + 1 + length
  }
  return bytes.length + 1
}
