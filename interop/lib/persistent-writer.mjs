/** A raw writer that goes on through every crash: it repeats a batch until it is acknowledged. */
import { noise, sleep } from "./harness.mjs"
import { makeIdentity, opaqueBatch } from "./identity.mjs"
import { connect } from "./wire.mjs"

const oneIn = (count) => Math.random() * count < 1

/** Mostly small batches, now and then one that travels in parts. */
const nextBatch = () => (oneIn(40) ? opaqueBatch(3, 600_000) : opaqueBatch(1 + Math.floor(Math.random() * 20), 200 + Math.floor(Math.random() * 3_000)))

export class PersistentWriter {
  /** Acknowledged entries: id in hex to sequence. */
  acked = new Map()
  /** Remote ids the server has shown, in hex. */
  remoteIds = new Set()
  /** What went wrong: an id or a sequence that was acknowledged in two ways, or a refusal. */
  faults = []
  reconnects = 0
  #owners = new Map()
  #stopped = false

  constructor(server, { identity = makeIdentity(), storeId = "default" } = {}) {
    Object.assign(this, { server, identity, storeId })
    this.done = this.#run()
  }

  async #run() {
    let batch = nextBatch()
    while (!this.#stopped) {
      const client = await this.#connect()
      if (!client) continue
      try {
        while (!this.#stopped) {
          this.#record(await client.write(this.identity, this.storeId, [batch], { id: Math.floor(Math.random() * 1e9) }))
          batch = nextBatch()
        }
      } catch (error) {
        if (error.code) this.faults.push(`refused: ${error.message}`)
        this.reconnects++
      }
      client.terminate()
    }
  }

  async #connect() {
    try {
      const client = await connect(this.server.url)
      const { remoteId } = await client.login(this.identity)
      this.remoteIds.add(Buffer.from(remoteId).toString("hex"))
      return client
    } catch {
      await sleep(20)
    }
  }

  #record(acks) {
    for (const { entryId, sequence } of acks) {
      const id = Buffer.from(entryId).toString("hex")
      if ((this.acked.get(id) ?? sequence) !== sequence) this.faults.push(`${id} at ${this.acked.get(id)} and ${sequence}`)
      if ((this.#owners.get(sequence) ?? id) !== id) this.faults.push(`sequence ${sequence} given to ${this.#owners.get(sequence)} and ${id}`)
      this.acked.set(id, sequence)
      this.#owners.set(sequence, id)
    }
  }

  /** Stops after the write that is under way. */
  stop() {
    this.#stopped = true
    return this.done
  }
}

/**
 * Reads the whole store of a writer: every acknowledged entry must be at its sequence, sequences must be dense.
 * Returns the number of entries. More than was acknowledged may be there.
 */
export const checkStore = async (writer, url = writer.server.url) => {
  const client = await connect(url)
  try {
    const { firstSequence = 0 } = await client.login(writer.identity)
    const acks = await client.write(writer.identity, writer.storeId, [{ ...opaqueBatch(1, 1), encryptedBatch: noise(1) }])
    const stream = client.changes(writer.identity, writer.storeId)
    await stream.entries(acks[0].sequence - firstSequence + 1, { timeout: 30_000 })
    const positions = stream.positions()
    const stored = new Map(positions)
    const lost = [...writer.acked].filter(([id, sequence]) => stored.get(id) !== sequence)
    const gap = positions.findIndex(([, sequence], index) => sequence !== firstSequence + index)
    return { count: positions.length, lost, gap, twice: positions.length - stored.size }
  } finally {
    client.terminate()
  }
}
