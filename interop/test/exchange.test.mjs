import assert from "node:assert/strict"
import { test } from "node:test"
import { openDevice } from "../lib/device.mjs"
import { isReference, noise } from "../lib/harness.mjs"
import { startServer } from "../lib/server.mjs"

const numbered = (prefix, count) => Array.from({ length: count }, (_, index) => [`${prefix}${index % 700}`, `${prefix} ${index}`])

/** Two devices write notes, one of them a large blob; a third starts afterwards. All end equal. */
const exchange = async (t, { url, each, blob, ...options }) => {
  const first = await openDevice(t, { url, ...options })
  const second = await openDevice(t, { url, identity: first.identity, ...options })
  const notes = [numbered("a", each), numbered("b", each)]
  for (let at = 0; at < each; at += 250) {
    await Promise.all([first.notes(notes[0].slice(at, at + 250)), second.notes(notes[1].slice(at, at + 250))])
  }
  await first.blob("large", noise(blob))
  const total = 2 * each + 1
  await Promise.all([first, second].map((device) => device.holds(total, { timeout: 30_000 })))
  await Promise.all([first, second].map((device) => device.synced({ timeout: 30_000 })))

  const third = await openDevice(t, { url, identity: first.identity, ...options })
  await third.holds(total, { timeout: 30_000 })
  const expected = await first.entries()
  assert.equal(expected.length, total)
  assert.deepEqual(await second.entries(), expected)
  assert.deepEqual(await third.entries(), expected)
  const sequences = [...first.acks.values(), ...second.acks.values()].sort((a, b) => a - b)
  assert.deepEqual(sequences, Array.from({ length: total }, (_, index) => sequences[0] + index), "each entry has its own sequence")
  for (const device of [first, second, third]) assert.deepEqual(device.logs, [], "effect logged no warning")
}

test("two devices exchange 3,000 entries and one of 900 kB, a fresh third ends with all of them", async (t) => {
  const server = await startServer(t)
  await exchange(t, { url: server.url, each: 1_500, blob: 900_000 })
})

test("the same over TCP", async (t) => {
  const server = await startServer(t, { tcp: true })
  await exchange(t, { url: server.tcpUrl, each: 250, blob: 900_000 })
})

test("the same with fingerprinted payloads", async (t) => {
  const server = await startServer(t, { args: isReference ? ["--fingerprint-payloads"] : [] })
  await exchange(t, { url: server.url, each: 250, blob: 900_000, fingerprintPayloads: true })
})

test("plain and fingerprinted payloads meet in one store, over WebSocket and TCP", { skip: isReference && "the reference speaks one form" }, async (t) => {
  const server = await startServer(t, { tcp: true })
  const plain = await openDevice(t, { url: server.url })
  const fingerprinted = await openDevice(t, { url: server.tcpUrl, identity: plain.identity, fingerprintPayloads: true })
  await plain.notes(numbered("p", 50))
  await fingerprinted.notes(numbered("f", 50))
  await Promise.all([plain.holds(100), fingerprinted.holds(100)])
  assert.deepEqual(await plain.entries(), await fingerprinted.entries())
})
