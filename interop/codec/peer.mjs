// The effect package's codec as a program: JSON lines in, JSON lines out, one answer for each question.
//
// {"schema":…,"defs":…,"mode":…,"value":…}  gives {"hex":…} or {"error":…}
// {"schema":…,"defs":…,"mode":…,"hex":…}    gives {"value":…} or {"error":…}
// {"schema":…,"defs":…,"mode":…,"values":[…],"dictionary":true} gives {"frames":[hex…]} or {"error":…}
//
// The test `crates/schema-binary/tests/differential.rs` asks; run it with
//   cargo test -p schema-binary --test differential -- --ignored
// after `npm install` in `interop/`.
import { createInterface } from "node:readline"
import { Schema } from "effect"
import { SchemaBinary } from "effect/encoding"
import { makeCodec, makeSchema } from "./schemas.mjs"
import { read, toHex, write } from "./values.mjs"

const answer = (question) => {
  const schema = makeSchema(question.schema, question.defs)
  if (question.dictionary) {
    const encoder = SchemaBinary.encoder(schema, { fingerprint: question.mode === "fingerprint", dictionary: true })
    return { frames: question.values.map((value) => toHex(encoder.encode(read(value)))) }
  }
  const codec = makeCodec(schema, question.mode)
  if ("hex" in question) {
    return { value: write(Schema.decodeUnknownSync(codec)(Buffer.from(question.hex, "hex"))) }
  }
  return { hex: toHex(Schema.encodeUnknownSync(codec)(read(question.value))) }
}

for await (const line of createInterface({ input: process.stdin })) {
  let reply
  try {
    reply = answer(JSON.parse(line))
  } catch (error) {
    reply = { error: String(error?.message ?? error).slice(0, 200) }
  }
  process.stdout.write(`${JSON.stringify(reply)}\n`)
}
