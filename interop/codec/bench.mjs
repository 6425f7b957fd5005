// How long the effect package takes for the values of `crates/schema-binary/benches/codec/data.rs`:
//   node interop/codec/bench.mjs
// Prints nanoseconds an operation, the best of several runs; an operation writes or reads one frame. The first two columns
// are the fastest ways in that the package has, the others those that its event log uses.
import { Effect, Schema } from "effect"
import { SchemaBinary } from "effect/encoding"

const id = (n) => Uint8Array.from({ length: 16 }, (_, i) => n + i)
const data = (length) => Uint8Array.from({ length }, (_, i) => i * 7)
const times = (n, make) => Array.from({ length: n }, (_, i) => make(i))

const events = ["TodoCreated", "TodoRenamed", "TodoCompleted", "TodoRemoved"]
const Entry = Schema.Struct({
  id: Schema.Uint8Array,
  event: Schema.String,
  primaryKey: Schema.String,
  payload: Schema.Uint8Array
})
const RemoteBatch = Schema.Struct({
  sequence: Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)),
  entryIds: Schema.NonEmptyArray(Schema.Uint8Array),
  iv: Schema.Uint8Array,
  encryptedBatch: Schema.Uint8Array
})
const settings = Array.from({ length: 10 }, (_, i) => i)
const Settings = Schema.Struct(Object.fromEntries(settings.flatMap((i) => [
  [`t${i}`, Schema.String],
  [`n${i}`, Schema.Number],
  [`f${i}`, Schema.Boolean],
  [`o${i}`, Schema.optionalKey(Schema.String)]
])))
const Text = Schema.Struct({
  id: Schema.String,
  title: Schema.String,
  body: Schema.String,
  author: Schema.String,
  state: Schema.String,
  note: Schema.optionalKey(Schema.String)
})
const Numbers = Schema.Struct({
  integers: Schema.Array(Schema.Number),
  decimals: Schema.Array(Schema.Number),
  floats: Schema.Array(Schema.Number),
  ints: Schema.Array(Schema.Int)
})

const makeSettings = () => {
  let n = 0
  const value = {}
  for (const i of settings) {
    value[`t${i}`] = "some text"
    value[`n${i}`] = ++n + 0.5
    value[`f${i}`] = ++n % 3 === 0
    if (++n % 2 === 0) value[`o${i}`] = "there"
  }
  return value
}

const cases = {
  entries: [
    Schema.Array(Entry),
    times(100, (n) => ({
      id: id(n),
      event: events[n % 4],
      primaryKey: `todo-000000000${1 + n % 5}`,
      payload: data(100)
    }))
  ],
  large_batches: [
    Schema.Array(RemoteBatch),
    times(16, (sequence) => ({ sequence, entryIds: times(10, id), iv: id(0), encryptedBatch: data(64 << 10) }))
  ],
  wide_struct: [Settings, makeSettings()],
  text_rows: [
    Schema.Array(Text),
    times(1000, (n) => ({
      id: `id-${String(n).padStart(8, "0")}`,
      title: `Title number ${n}`,
      body: "Words of a body, é and all. ".repeat(1 + n % 5),
      author: n % 3 === 0 ? "ada" : "grace",
      state: n % 2 === 0 ? "open" : "closed",
      ...(n % 4 === 0 ? { note: "a note" } : {})
    }))
  ],
  numbers: [
    Numbers,
    {
      integers: times(1000, (n) => n * 37 - 5000),
      decimals: times(1000, (n) => n * 13 / 100),
      floats: times(1000, (n) => Math.sqrt(n + 1)),
      ints: times(1000, (n) => n * 1_000_003)
    }
  ]
}

// The best of runs of about a tenth of a second each.
const measure = (run) => {
  let best = Infinity
  for (let round = 0; round < 12; round++) {
    let count = 0
    const start = process.hrtime.bigint()
    let now = start
    while (now - start < 100_000_000n) {
      for (let i = 0; i < 10; i++) run()
      count += 10
      now = process.hrtime.bigint()
    }
    best = Math.min(best, Number(now - start) / count)
  }
  return best
}

for (const [name, [schema, value]] of Object.entries(cases)) {
  const encode = SchemaBinary.encodeUnknownSync(schema)
  const frame = encode(value)
  const parser = SchemaBinary.parser(schema)
  const direct = Schema.decodeUnknownSync(SchemaBinary.toCodecDirect(schema))
  const codec = SchemaBinary.toCodec(schema)
  const encodeEffect = Schema.encodeEffect(codec)
  const decodeEffect = Schema.decodeEffect(codec)
  const columns = {
    write: measure(() => encode(value)),
    read: Math.min(measure(() => parser.feedSync(frame)), measure(() => direct(frame))),
    "event log writes": measure(() => Effect.runSync(encodeEffect(value))),
    "event log reads": measure(() => Effect.runSync(decodeEffect(frame)))
  }
  const figures = Object.entries(columns).map(([column, ns]) => `${column} ${ns.toFixed(0)} ns`)
  console.log(`${name.padEnd(14)} ${frame.length} bytes: ${figures.join(", ")}`)
}
