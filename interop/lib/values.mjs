/** The few schema layouts that the sync calls need: structs, row runs, and the values inside them. */
import { concat, Reader, sized, text, uvarint, untext, varint } from "./bytes.mjs"

/** Field id of a name: FNV-1a over its UTF-8 bytes, 32 bits. */
export const fieldId = (name) => {
  let hash = 0x811c9dc5
  for (const byte of text(name)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0
  return hash
}

const plain = (code) => ({ ...code, kind: 0, field: (value) => sized(code.plain(value)) })

/**
 * Layouts: `plain` writes a value that fills its region, `field` writes it inside a struct with the wire `kind`,
 * `read` reads it back from a reader over its region.
 */
export const bytes = plain({ plain: (value) => value, read: (reader) => reader.rest() })
export const string = plain({ plain: text, read: (reader) => untext(reader.rest()) })
export const int = { kind: 1, plain: varint, field: varint, read: (reader) => reader.varint() }
export const literalTrue = plain({ plain: () => Uint8Array.of(1), read: (reader) => reader.byte() === 1 })

const selectors = new Map([[int, 4], [literalTrue, 1], [string, 5]])

/** A value that may be undefined: a selector byte in front. */
export const orUndefined = (item) =>
  plain({
    plain: (value) => concat(Uint8Array.of(selectors.get(item)), item.plain(value)),
    read: (reader) => (reader.byte() === 3 ? undefined : item.read(reader))
  })

/** An array whose items are sized. */
export const list = (item) =>
  plain({
    plain: (values) => concat(uvarint(values.length), ...values.map((value) => sized(item.plain(value)))),
    read: (reader) => Array.from({ length: reader.uvarint() }, () => item.read(new Reader(reader.sized())))
  })

/** Two integers without a count. */
export const pair = plain({
  plain: ([first, second]) => concat(varint(first), varint(second)),
  read: (reader) => [reader.varint(), reader.varint()]
})

const byId = (fields) =>
  Object.entries(fields)
    .map(([name, layout]) => ({ name, layout, id: fieldId(name) }))
    .sort((a, b) => a.id - b.id)

/** A struct: fields in ascending id order, absent ones left out. */
export const struct = (fields) => {
  const ordered = byId(fields)
  return plain({
    plain: (value) =>
      concat(...ordered.filter(({ name }) => value[name] !== undefined).flatMap(({ name, layout, id }) => [
        uvarint(id * 8 + layout.kind),
        layout.field(value[name])
      ])),
    read: (reader) => readStruct(reader, ordered)
  })
}

const readStruct = (reader, ordered) => {
  const value = {}
  while (reader.remaining > 0) {
    const tag = reader.uvarint()
    const field = ordered.find(({ id }) => id === Math.floor(tag / 8))
    const read = readKind(reader, tag % 8, field?.layout)
    if (field && read !== undefined) value[field.name] = read
  }
  return value
}

const readKind = (reader, kind, layout) => {
  if (kind === 0) {
    const region = new Reader(reader.sized())
    return layout?.read(region)
  }
  if (kind === 1) return reader.varint()
  if (kind === 3 || kind === 4) return kind === 4
  throw new Error(`field kind ${kind} is not used by the sync calls`)
}

/** A boolean field; only ever read. */
export const boolean = { kind: 4, read: (reader) => reader.byte() === 1 }

/** An array of structs as a row run: the first row declares the shape, later ones refer to it. */
export const rows = (fields) => {
  const ordered = byId(fields)
  return plain({
    plain: (values) => concat(uvarint(values.length), ...values.map((value, index) => sized(writeRow(value, index, ordered)))),
    read: (reader) => {
      const shapes = []
      return Array.from({ length: reader.uvarint() }, () => readRow(new Reader(reader.sized()), shapes, ordered))
    }
  })
}

const region = (layout, value) => {
  const body = layout.plain(value)
  return concat(uvarint(2 * body.length), body)
}

const writeRow = (value, index, ordered) =>
  index === 0
    ? concat(uvarint(0), ...ordered.flatMap(({ name, layout, id }) => [uvarint(id), region(layout, value[name])]))
    : concat(uvarint(1), ...ordered.map(({ name, layout }) => region(layout, value[name])))

const readRow = (reader, shapes, ordered) => {
  const code = reader.uvarint()
  const value = {}
  const readRegion = (id) => {
    const body = new Reader(reader.take(reader.uvarint() / 2))
    const field = ordered.find((candidate) => candidate.id === id)
    if (field) value[field.name] = field.layout.read(body)
  }
  if (code > 0) {
    shapes[code - 1].forEach(readRegion)
    return value
  }
  const shape = []
  while (reader.remaining > 0) {
    const id = reader.uvarint()
    shape.push(id)
    readRegion(id)
  }
  shapes.push(shape)
  return value
}
