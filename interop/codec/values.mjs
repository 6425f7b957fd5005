// Values of the effect package from the notation of schema-binary, and back.
import { BigDecimal, Cause, DateTime, Duration, Exit, Option, Result } from "effect"

const fromHex = (digits) => Uint8Array.from(digits.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))
export const toHex = (bytes) => Buffer.from(bytes).toString("hex")

const numbers = { NaN: Number.NaN, Infinity: Infinity, "-Infinity": -Infinity, "-0": -0 }

const readReason = (reason) => {
  if ("fail" in reason) return Cause.makeFailReason(read(reason.fail))
  if ("die" in reason) return Cause.makeDieReason(read(reason.die))
  return Cause.makeInterruptReason(reason.interrupt === null ? undefined : read(reason.interrupt))
}
const readCause = (reasons) => Cause.fromReasons(reasons.map(readReason))

const special = {
  $undefined: () => undefined,
  $none: () => Option.none(),
  $some: (v) => Option.some(read(v)),
  $success: (v) => Result.succeed(read(v)),
  $failure: (v) => Result.fail(read(v)),
  $number: (v) => numbers[v],
  $f64: (v) => new DataView(fromHex(v).buffer).getFloat64(0),
  $bigint: (v) => BigInt(v),
  $bytes: (v) => fromHex(v),
  $symbol: (v) => Symbol.for(read(v)),
  $date: (v) => new Date(v ?? Number.NaN),
  $utc: (v) => DateTime.makeUnsafe(v),
  $zoned: (v) => DateTime.makeZonedUnsafe(v.epochMillis, { timeZone: v.zone ?? v.offsetMillis }),
  $duration: (v) =>
    v === "Infinity" ? Duration.infinity : v === "-Infinity" ? Duration.negativeInfinity : Duration.nanos(BigInt(v)),
  $bigDecimal: (v) => BigDecimal.make(BigInt(v.value), v.scale),
  $exit: (v) => "success" in v ? Exit.succeed(read(v.success)) : Exit.failCause(readCause(v.cause)),
  $cause: (v) => readCause(v),
  $reason: (v) => readReason(v),
  $utf16: (v) => String.fromCharCode(...v),
  $entries: (v) => own(v.map(([key, value]) => [read(key), read(value)]))
}

const own = (entries) => {
  const object = {}
  for (const [key, value] of entries) {
    Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true })
  }
  return object
}

export const read = (json) => {
  if (Array.isArray(json)) return json.map(read)
  if (json === null || typeof json !== "object") return json
  const [key] = Object.keys(json)
  if (key?.startsWith("$")) return special[key](json[key])
  return own(Object.entries(json).map(([name, value]) => [name, read(value)]))
}

const writeNumber = (n) => {
  if (Object.is(n, -0)) return { $number: "-0" }
  return Number.isFinite(n) ? n : { $number: String(n) }
}
const writeString = (s) => s.isWellFormed() ? s : { $utf16: Array.from({ length: s.length }, (_, i) => s.charCodeAt(i)) }
const writeReason = (reason) => {
  if (reason._tag === "Fail") return { fail: write(reason.error) }
  if (reason._tag === "Die") return { die: write(reason.defect) }
  return { interrupt: reason.fiberId === undefined ? null : writeNumber(reason.fiberId) }
}
const writeDuration = ({ value }) => {
  if (value._tag === "Infinity") return "Infinity"
  if (value._tag === "NegativeInfinity") return "-Infinity"
  return String(value._tag === "Nanos" ? value.nanos : BigInt(value.millis) * 1_000_000n)
}
const writeObject = (object) => {
  const keys = Object.keys(object)
  if (keys.every((key) => !key.startsWith("$") && key !== "__proto__" && key.isWellFormed())) {
    return Object.fromEntries(keys.map((key) => [key, write(object[key])]))
  }
  return { $entries: keys.map((key) => [writeString(key), write(object[key])]) }
}

export const write = (value) => {
  switch (typeof value) {
    case "undefined":
      return { $undefined: true }
    case "number":
      return writeNumber(value)
    case "string":
      return writeString(value)
    case "bigint":
      return { $bigint: String(value) }
    case "symbol":
      return { $symbol: writeString(Symbol.keyFor(value)) }
    case "boolean":
      return value
  }
  if (value === null) return null
  if (Array.isArray(value)) return value.map(write)
  if (value instanceof Uint8Array) return { $bytes: toHex(value) }
  if (value instanceof Date) return { $date: value.getTime() }
  if (DateTime.isDateTime(value)) {
    if (value._tag === "Utc") return { $utc: value.epochMilliseconds }
    const zone = value.zone._tag === "Offset" ? { offsetMillis: value.zone.offset } : { zone: value.zone.id }
    return { $zoned: { epochMillis: value.epochMilliseconds, ...zone } }
  }
  if (Duration.isDuration(value)) return { $duration: writeDuration(value) }
  if (BigDecimal.isBigDecimal(value)) {
    const normal = BigDecimal.normalize(value)
    return { $bigDecimal: { value: String(normal.value), scale: normal.scale } }
  }
  if (Option.isOption(value)) return Option.isSome(value) ? { $some: write(value.value) } : { $none: true }
  if (Result.isResult(value)) {
    return Result.isSuccess(value) ? { $success: write(value.success) } : { $failure: write(value.failure) }
  }
  if (Exit.isExit(value)) {
    return { $exit: Exit.isSuccess(value) ? { success: write(value.value) } : { cause: value.cause.reasons.map(writeReason) } }
  }
  if (Cause.isCause(value)) return { $cause: value.reasons.map(writeReason) }
  if (Cause.isReason(value)) return { $reason: writeReason(value) }
  return writeObject(value)
}
