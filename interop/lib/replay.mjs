/** Recorded connections of effect 4.1.0's client and server, played again against a server under test. */
import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { hex, toHex } from "./bytes.mjs"
import { EnvelopeStream } from "./envelope.mjs"
import { isReference, until } from "./harness.mjs"
import { makeIdentity } from "./identity.mjs"
import { decodeDefect, decodeExit, sessionPayload } from "./messages.mjs"
import { connect } from "./wire.mjs"

/** Reads a recording: its header, and by connection the steps `{ note, send: [hex], expect: [envelope], closed }`. */
export const readCapture = (name) => {
  const [header, ...lines] = readFileSync(new URL(`../fixtures/${name}.jsonl`, import.meta.url), "utf8")
    .trim().split("\n").map((line) => JSON.parse(line))
  const connections = []
  for (const line of lines) {
    if (line.event === "open") connections[line.conn] = { steps: [], stream: new EnvelopeStream() }
    else addLine(connections[line.conn], line)
  }
  return { header, connections }
}

const addLine = ({ steps, stream }, line) => {
  const last = steps.at(-1)
  if (line.dir === "c2s") {
    if (!last || last.expect.length > 0 || last.send === undefined) steps.push({ note: "", send: [], expect: [] })
    steps.at(-1).send.push(line.data)
  }
  if (line.event === "note") steps.push({ note: line.text, send: [], expect: [] })
  if (line.dir === "s2c") last.expect.push(...stream.push(hex(line.data)))
  if (line.event === "close" && line.by === "server" && line.code !== 1000) last.closed = line.code
}

const signer = (header) => {
  const { publicKey, rootSecretHex } = header.identities.alice
  const identity = makeIdentity({ publicKey, rootSecret: hex(rootSecretHex) })
  return (remoteId, challenge) =>
    toHex(identity.sign(sessionPayload({ ...identity, remoteId: hex(remoteId), challenge: hex(challenge) })))
}

const helloPattern = /(?:f083f239|057d5ff85923db2600..)20(?<challenge>.{64})(?:(?:c09ceff744020101)?f0a38ebc57|020001)?10(?<remoteId>.{32})/

/** Plays every connection of a recording; each answer must equal the recorded one but for what is random. */
export const replay = async (url, name, { first }) => {
  const { header, connections } = readCapture(name)
  const sign = signer(header)
  for (const { steps } of connections) {
    const client = await connect(url)
    const known = { challenge: "", remoteId: "" }
    const live = { challenge: "", remoteId: "" }
    for (const step of steps) await playStep({ client, step, known, live, sign, first })
    await client.close()
  }
}

const playStep = async ({ client, step, known, live, sign, first }) => {
  const before = client.received.length
  const oldSignature = known.challenge && sign(known.remoteId, known.challenge)
  const newSignature = live.challenge && sign(live.remoteId, live.challenge)
  for (const data of step.send) client.send(hex(oldSignature ? data.replace(oldSignature, newSignature) : data))
  if (step.closed) {
    assert.equal((await client.closed).code, isReference ? 1005 : step.closed, step.note)
    return
  }
  await until(`the answers to "${step.note}"`, () => client.received.length >= before + step.expect.length, { timeout: 5_000 })
  step.expect.forEach((expected, index) => {
    const got = client.received[before + index]
    remember(expected, known)
    remember(got, live)
    compare(got, expected, { first, note: step.note })
  })
}

const remember = ({ bytes }, into) => Object.assign(into, helloPattern.exec(toHex(bytes))?.groups)

const compare = (got, expected, { first, note }) => {
  assert.equal(got.kind, expected.kind, note)
  assert.equal(got.requestId, expected.requestId, note)
  if (expected.kind === "Defect") return assert.equal(decodeDefect(got.defect).name, decodeDefect(expected.defect).name, note)
  const [gotHex, expectedHex] = [toHex(got.bytes), toHex(expected.bytes)]
  if (interrupted.test(expectedHex)) return assert.match(gotHex, interrupted, note)
  if (helloPattern.test(expectedHex)) return assert.match(gotHex, helloPattern, note)
  if (fromZero(gotHex, first) === expectedHex) return
  if (expectedHex.includes(withUndefined)) return assert.deepEqual(failure(got), failure(expected), note)
  assert.equal(fromZero(gotHex, first), expectedHex, note)
}

/** An error field that says undefined: the recorded server writes some, leaving them out means the same. */
const withUndefined = "f8efc0827a0103"

const failure = ({ exit }) => {
  try {
    return decodeExit("", exit)
  } catch (error) {
    return { ...error }
  }
}

/** A cause with one Interrupt reason, with or without a fiber. */
const interrupted = /(01010903.{16}|01010102)$/

/** The recordings count from 0: brings the sequences of a server that counts from `first` down. */
const fromZero = (text, first) =>
  text
    .replace(/(e8de8fe20302|15000302|1[45]0102)(..)/g, (_, before, code) => before + shifted(code, first))
    .replace(/(99bca99a19|5a666000)(..)(f3def7f867|00)$/, (_, before, code, after) => before + shifted(code, first) + after)

const shifted = (code, first) => {
  const sequence = parseInt(code, 16) / 2 - first
  return (sequence < 0 ? 3 : 2 * sequence).toString(16).padStart(2, "0")
}
