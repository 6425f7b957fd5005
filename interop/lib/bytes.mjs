/** Byte primitives of the wire: little-endian base-128 integers, sized parts, and a bounds-checked reader. */

const utf8 = new TextEncoder()
const strictUtf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

/** UTF-8 bytes of a text. */
export const text = (value) => utf8.encode(value)

/** The text of UTF-8 bytes; throws on malformed input. */
export const untext = (bytes) => strictUtf8.decode(bytes)

/** Joins byte arrays. */
export const concat = (...parts) => new Uint8Array(Buffer.concat(parts))

/** Bytes from hex digits; spaces are ignored. */
export const hex = (digits) => new Uint8Array(Buffer.from(digits.replace(/\s+/g, ""), "hex"))

/** Hex digits of bytes. */
export const toHex = (bytes) => Buffer.from(bytes).toString("hex")

/** An unsigned integer, 7 bits a byte, low groups first. */
export const uvarint = (value) => {
  const out = []
  while (value >= 128) {
    out.push((value % 128) + 128)
    value = Math.floor(value / 128)
  }
  out.push(value)
  return Uint8Array.from(out)
}

/** A signed integer: twice its magnitude, plus one when negative. */
export const varint = (value) => uvarint(2 * Math.abs(value) + (value < 0 ? 1 : 0))

/** Bytes preceded by their length. */
export const sized = (...parts) => {
  const body = concat(...parts)
  return concat(uvarint(body.length), body)
}

/** A frame in default mode: length, version byte, value. */
export const frame = (...value) => sized(Uint8Array.of(0x20), ...value)

/** Reads bytes from front to back; reading past the end throws. */
export class Reader {
  constructor(bytes) {
    this.bytes = bytes
    this.offset = 0
  }

  get remaining() {
    return this.bytes.length - this.offset
  }

  take(length) {
    if (length > this.remaining) throw new RangeError(`wanted ${length} bytes, ${this.remaining} are left`)
    const part = this.bytes.subarray(this.offset, this.offset + length)
    this.offset += length
    return part
  }

  rest() {
    return this.take(this.remaining)
  }

  byte() {
    return this.take(1)[0]
  }

  uvarint() {
    let value = 0
    for (let scale = 1; ; scale *= 128) {
      const byte = this.byte()
      value += (byte & 127) * scale
      if (byte < 128) return value
    }
  }

  varint() {
    const code = this.uvarint()
    const magnitude = Math.floor(code / 2)
    return code % 2 === 1 ? -magnitude : magnitude
  }

  sized() {
    return this.take(this.uvarint())
  }

  /** A reader over the value of the default-mode frame that fills these bytes. */
  static ofFrame(bytes) {
    const outer = new Reader(bytes)
    const body = new Reader(outer.sized())
    if (outer.remaining > 0) throw new Error(`${outer.remaining} bytes after the frame`)
    if (body.byte() !== 0x20) throw new Error("not a default-mode frame")
    return body
  }
}
