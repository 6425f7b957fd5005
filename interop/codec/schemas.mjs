// Schemas of the effect package from the descriptions that schema-binary reads.
import { Schema } from "effect"
import { SchemaBinary } from "effect/encoding"

const plain = {
  string: Schema.String,
  number: Schema.Number,
  int: Schema.Int,
  natural: Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)),
  boolean: Schema.Boolean,
  null: Schema.Null,
  undefined: Schema.Undefined,
  void: Schema.Void,
  bigint: Schema.BigInt,
  bytes: Schema.Uint8Array,
  symbol: Schema.Symbol,
  date: Schema.Date,
  dateTimeUtc: Schema.DateTimeUtc,
  dateTimeZoned: Schema.DateTimeZoned,
  duration: Schema.Duration,
  bigDecimal: Schema.BigDecimal,
  unknown: Schema.Unknown,
  json: Schema.Json,
  never: Schema.Never
}

const checks = {
  nonEmpty: Schema.isNonEmpty(),
  maxLength3: Schema.isMaxLength(3),
  positive: Schema.isGreaterThan(0),
  int: Schema.isInt(),
  int32: Schema.isInt32()
}

// All refs to one name are one schema object.
export const makeSchema = (description, definitions = {}) => {
  const refs = new Map()
  const refTo = (name) => {
    if (!refs.has(name)) refs.set(name, Schema.suspend(() => define(name)))
    return refs.get(name)
  }
  const defined = new Map()
  const define = (name) => {
    if (!defined.has(name)) defined.set(name, make(definitions[name]))
    return defined.get(name)
  }

  const field = (d) => {
    let schema = make(d)
    if (d.optional === "key") schema = Schema.optionalKey(schema)
    if (d.optional === "undefined") schema = Schema.optional(schema)
    if (d.fieldId !== undefined) schema = schema.pipe(SchemaBinary.fieldId(d.fieldId))
    return schema
  }
  const fields = (d) => Object.fromEntries(Object.entries(d).map(([name, f]) => [name, field(f)]))
  const record = (d) => Schema.Record(d.key === undefined ? Schema.String : make(d.key), make(d.value))

  const make = (d) => {
    if (Object.hasOwn(plain, d.type)) return plain[d.type]
    switch (d.type) {
      case "templateLiteral":
        return Schema.TemplateLiteral(d.parts.map((part) => typeof part === "object" ? make(part) : part))
      case "uniqueSymbol":
        return Schema.UniqueSymbol(Symbol.for(d.key))
      case "literal":
        return Schema.Literal(literal(d.value))
      case "literals":
        return Schema.Literals(d.values.map(literal))
      case "enum":
        return Schema.Enum(d.members)
      case "struct":
      case "class":
        return d.rest === undefined
          ? Schema.Struct(fields(d.fields))
          : Schema.StructWithRest(Schema.Struct(fields(d.fields)), d.rest.map(record))
      case "taggedStruct":
        return Schema.Struct({ _tag: Schema.tag(d.tag), ...fields(d.fields) })
      case "record":
        return record(d)
      case "array":
        return Schema.Array(make(d.item))
      case "nonEmptyArray":
        return Schema.NonEmptyArray(make(d.item))
      case "tuple":
        return Schema.Tuple(d.elements.map(field))
      case "tupleWithRest":
        return Schema.TupleWithRest(Schema.Tuple(d.elements.map(field)), d.rest.map(make))
      case "union":
        return Schema.Union(d.members.map(make))
      case "option":
        return Schema.Option(make(d.item))
      case "result":
        return Schema.Result(make(d.success), make(d.failure))
      case "exit":
        return Schema.Exit(make(d.success), make(d.failure), make(d.defect))
      case "cause":
        return Schema.Cause(make(d.error), make(d.defect))
      case "causeReason":
        return Schema.CauseReason(make(d.error), make(d.defect))
      case "brand":
        return make(d.item).pipe(Schema.brand(d.brand))
      case "check":
        return make(d.item).check(checks[d.check])
      case "ref":
        return refTo(d.name)
    }
    throw new Error(`unknown type ${d.type}`)
  }
  return make(description)
}

const literal = (value) => typeof value === "object" ? BigInt(value.$bigint) : value

export const makeCodec = (schema, mode) => {
  if (mode === "strict") return SchemaBinary.toCodecStrict(schema)
  return SchemaBinary.toCodec(schema, { fingerprint: mode === "fingerprint" })
}
