/** A slow or breakable link: a TCP proxy with a rate and a latency in each direction, and next to no buffer of its own. */
import { once } from "node:events"
import { connect, createServer } from "node:net"
import { sleep } from "./harness.mjs"

/** The slow line of the tests: 256 kbit/s and 200 ms. */
export const slow = { bitsPerSecond: 256_000, latency: 200 }

/** How much of the line a direction may have booked ahead, in milliseconds of transmission. */
const bookedAhead = 20

/**
 * Starts a link to `url` and closes it when the test ends.
 *
 * `up` (towards the server) and `down` are `{ bitsPerSecond, latency }`; leave them out for a direction without delay.
 * `link.url` is the address for clients, `link.carried` counts bytes by direction, `link.connections` connections, `link.cut()` breaks every connection.
 */
export const startLink = async (t, url, { up, down } = {}) => {
  const target = new URL(url)
  const link = new Link({ host: target.hostname, port: Number(target.port) }, { up, down })
  t.after(() => link.close())
  await link.listen(target.protocol)
  return link
}

class Link {
  carried = { up: 0, down: 0 }
  connections = 0
  #sockets = new Set()
  #server = createServer({ pauseOnConnect: true, noDelay: true, highWaterMark: 4096 }, (near) => this.#join(near))

  constructor(target, { up, down }) {
    Object.assign(this, { target, up, down })
  }

  async listen(protocol) {
    this.#server.listen(0, "127.0.0.1")
    await once(this.#server, "listening")
    this.url = `${protocol}//127.0.0.1:${this.#server.address().port}`
  }

  #join(near) {
    this.connections++
    const far = connect({ ...this.target, noDelay: true, highWaterMark: 4096 })
    for (const socket of [near, far]) {
      this.#sockets.add(socket)
      socket.on("error", () => {})
      socket.on("close", () => this.#sockets.delete(socket))
    }
    this.#carry("up", near, far)
    this.#carry("down", far, near)
  }

  async #carry(direction, source, target) {
    const { bitsPerSecond = Infinity, latency = 0 } = this[direction] ?? {}
    const largest = Math.max(512, Math.min(65_536, (bitsPerSecond / 8_000) * bookedAhead))
    const flight = new Flight((piece) => {
      this.carried[direction] += piece.length
      target.write(piece)
    })
    let lineFree = performance.now()
    try {
      for await (const piece of pieces(source, largest)) {
        lineFree = Math.max(lineFree, performance.now()) + (piece.length * 8_000) / bitsPerSecond
        flight.add(piece, lineFree + latency)
        const ahead = lineFree - performance.now()
        if (ahead > bookedAhead) await sleep(ahead - bookedAhead)
        if (target.writableNeedDrain) await once(target, "drain")
      }
      await flight.empty()
      target.end()
    } catch {
      target.destroy()
    }
  }

  /** Breaks every connection at once, as a lost network does. */
  cut() {
    for (const socket of this.#sockets) socket.destroy()
  }

  close() {
    this.cut()
    return new Promise((resolve) => this.#server.close(resolve))
  }
}

const pieces = async function*(source, largest) {
  for await (const read of source) {
    for (let at = 0; at < read.length; at += largest) yield read.subarray(at, at + largest)
  }
}

/** Pieces on their way: each arrives at its time, in order. */
class Flight {
  #pieces = []
  #landed = () => {}

  constructor(arrive) {
    this.arrive = arrive
  }

  add(piece, at) {
    this.#pieces.push({ piece, at })
    if (this.#pieces.length === 1) this.#land()
  }

  #land = () => {
    while (this.#pieces.length > 0 && this.#pieces[0].at <= performance.now()) this.arrive(this.#pieces.shift().piece)
    if (this.#pieces.length === 0) return this.#landed()
    setTimeout(this.#land, this.#pieces[0].at - performance.now())
  }

  /** Settles once nothing is on its way. */
  empty() {
    return new Promise((resolve) => {
      this.#landed = resolve
      if (this.#pieces.length === 0) resolve()
    })
  }
}

/** Measures how much of a direction's capacity is used from now on, in percent. */
export const measureUse = (link, direction) => {
  const start = performance.now()
  const before = link.carried[direction]
  return () => {
    const seconds = (performance.now() - start) / 1000
    return (100 * (link.carried[direction] - before) * 8) / (link[direction].bitsPerSecond * seconds)
  }
}
