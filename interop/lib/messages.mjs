/** Payloads, answers and carried byte strings of the event-log calls. */
import { concat, frame, Reader, text, toHex, untext } from "./bytes.mjs"
import { boolean, bytes, int, list, literalTrue, orUndefined, pair, rows, string, struct } from "./values.mjs"

const framed = (layout) => (value) => frame(layout.plain(value))
const unframed = (layout) => (data) => layout.read(Reader.ofFrame(data))

const scope = { publicKey: string, storeId: string }
const batch = { entryIds: list(bytes), iv: bytes, encryptedBatch: bytes }

/** Payload encoders by call name. */
export const payloads = {
  "EventLog.Authenticate": framed(struct({ algorithm: string, signature: bytes, publicKey: string, signingPublicKey: bytes })),
  "EventLog.WriteSingle": framed(struct({ data: bytes })),
  "EventLog.WriteChunked": framed(struct({ id: int, _tag: string, part: pair, data: bytes })),
  "EventLog.Changes": framed(struct({ ...scope, startSequence: int })),
  "EventLog.CompactionStatus": framed(struct(scope)),
  "EventLog.CompactionBegin": framed(struct(scope)),
  "EventLog.CompactionAbort": framed(struct({ ...scope, stageId: string })),
  "EventLog.CompactionPart": framed(struct({ ...scope, stageId: string, chunk: struct({ id: int, _tag: string, part: pair, data: bytes }) }))
}

/** Decoders of successful answers by call name; calls that are not listed answer nothing. */
export const answers = {
  "EventLog.Hello": struct({
    remoteId: bytes,
    challenge: bytes,
    firstSequence: orUndefined(int),
    compaction: orUndefined(literalTrue)
  }),
  "EventLog.WriteSingle": rows({ entryId: bytes, sequence: int }),
  "EventLog.WriteChunked": rows({ entryId: bytes, sequence: int }),
  "EventLog.CompactionStatus": struct({ wanted: boolean, head: int }),
  "EventLog.CompactionBegin": { read: (reader) => variant(reader, beginResults) }
}

const beginResults = {
  "6223cda7": ["Started", struct({ stageId: string })],
  "9767c3c5": ["Busy", struct({})],
  "572a901e": ["NotWanted", struct({})]
}

/** The body of a write: `{ publicKey, storeId, batches: [{ entryIds, iv, encryptedBatch }] }`. */
export const encodeWrite = framed(struct({ ...scope, batches: rows(batch) }))

/** The batches of one joined change message: `[{ entryIds, iv, encryptedBatch, sequence }]`. */
export const decodeBatches = unframed(rows({ ...batch, sequence: int }))

/** The most bytes a message may have before it is cut into parts, and the size of a part. */
export const partSize = 512_000

/** Parts of one message, as payloads of WriteChunked. */
export const split = (id, data, size = partSize) => {
  const total = Math.ceil(data.length / size)
  return Array.from({ length: total }, (_, index) => ({
    _tag: "Chunked",
    id,
    part: [index, total],
    data: data.subarray(index * size, (index + 1) * size)
  }))
}

/** A refused call: `code`, `requestTag`, `publicKey`, `storeId` of the protocol error, or a bare `defect`. */
export class CallError extends Error {
  code
  requestTag
  publicKey
  storeId
  defect

  constructor(reason) {
    super(reason.message ?? JSON.stringify(reason.defect) ?? reason.kind)
    Object.assign(this, reason)
  }
}

const protocolError = struct({
  message: string,
  storeId: orUndefined(string),
  requestTag: string,
  publicKey: orUndefined(string),
  code: string
})

const readReason = (reader) => {
  const kind = ["Fail", "Die", "Interrupt", "Interrupt"][reader.byte()]
  if (kind === "Fail") return { kind, ...variant(reader, { "6973bb46": ["EventLogProtocolError", protocolError] }) }
  if (kind === "Die") return { kind, defect: JSON.parse(untext(reader.rest())) }
  return { kind }
}

const variant = (reader, known) => {
  if (reader.byte() !== 0x0a) throw new Error("not a variant")
  const tag = toHex(reader.take(4))
  if (!known[tag]) throw new Error(`unknown variant ${tag}`)
  const [_tag, layout] = known[tag]
  return { _tag, ...layout.read(reader) }
}

/** The answer of a call; throws a {@link CallError} when it was refused. */
export const decodeExit = (call, exit) => {
  const reader = Reader.ofFrame(exit)
  if (reader.byte() === 0) return answers[call]?.read(reader)
  const count = reader.uvarint()
  const reasons = Array.from({ length: count }, () => readReason(new Reader(reader.sized())))
  throw new CallError(reasons[0] ?? { kind: "Empty" })
}

/** The items of a Chunk: `{ _tag: "Single" | "Chunked", data, id?, part? }`. */
export const decodeItems = (values) => {
  const reader = Reader.ofFrame(values)
  return Array.from({ length: reader.uvarint() }, () => variant(new Reader(reader.sized()), itemKinds))
}

const itemKinds = {
  "0c3040c6": ["Single", struct({ data: bytes })],
  "47bbc385": ["Chunked", struct({ id: int, part: pair, data: bytes })]
}

/** Joins Chunked items: returns the whole message when the last part arrives. */
export class Joiner {
  #open = new Map()

  push(item) {
    if (item._tag === "Single") return item.data
    const [index, total] = item.part
    const parts = this.#open.get(item.id) ?? new Map()
    parts.set(index, parts.get(index) ?? item.data)
    this.#open.set(item.id, parts)
    if (parts.size < total) return undefined
    this.#open.delete(item.id)
    return concat(...Array.from({ length: total }, (_, part) => parts.get(part)))
  }
}

/** The JSON value of a Defect envelope. */
export const decodeDefect = (defect) => JSON.parse(untext(Reader.ofFrame(defect).rest()))

/** The bytes that a session signature covers. */
export const sessionPayload = ({ remoteId, challenge, publicKey, signingPublicKey }) => {
  const parts = [text("eventlog-auth-v1"), text(toHex(remoteId)), challenge, text(publicKey), signingPublicKey]
  return concat(...parts.flatMap((part) => [bigEndian(part.length), part]))
}

/** Additional data of a sealed batch. */
export const batchData = (storeId, entryIds) => {
  const store = text(storeId)
  return concat(bigEndian(store.length), store, ...entryIds)
}

const bigEndian = (value) => {
  const out = Buffer.alloc(4)
  out.writeUInt32BE(value)
  return out
}

/** The plaintext of a batch: entries `{ id, event, primaryKey, payload }`. */
export const encodeEntries = framed(rows({ id: bytes, event: string, primaryKey: string, payload: bytes }))
