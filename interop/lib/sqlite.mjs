/** effect's SqlClient over the SQLite that ships with Node: one connection, write-ahead log, full sync. */
import { DatabaseSync } from "node:sqlite"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Context from "effect/Context"
import * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import * as Stream from "effect/Stream"
import * as Reactivity from "effect/reactivity/Reactivity"
import * as SqlClient from "effect/sql/SqlClient"
import { classifySqliteError, SqlError } from "effect/sql/SqlError"
import * as Statement from "effect/sql/Statement"

const attempt = (operation, run) =>
  Effect.try({
    try: run,
    catch: (cause) => new SqlError({ reason: classifySqliteError(cause, { message: `Failed to ${operation}`, operation }) })
  })

const makeConnection = (db) => {
  const prepared = new Map()
  const prepare = (sql) => {
    const statement = prepared.get(sql) ?? db.prepare(sql)
    prepared.set(sql, statement)
    return statement
  }
  const run = (statement, params) => {
    if (statement.columns().length > 0) return statement.all(...params)
    statement.run(...params)
    return []
  }
  const execute = (sql, params, transform) =>
    Effect.map(attempt("execute", () => run(prepare(sql), params)), (rows) => transform ? transform(rows) : rows)
  const values = (sql, params) => Effect.map(execute(sql, params), (rows) => rows.map(Object.values))
  return {
    execute,
    executeRaw: execute,
    executeUnprepared: execute,
    executeValues: values,
    executeValuesUnprepared: values,
    executeStream: () => Stream.die("not needed by the event log")
  }
}

const makeClient = (filename, synchronous) =>
  Effect.gen(function*() {
    const db = new DatabaseSync(filename)
    yield* Effect.addFinalizer(() => Effect.sync(() => db.close()))
    db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ${synchronous}; PRAGMA busy_timeout = 5000`)
    const connection = makeConnection(db)
    const permit = yield* Semaphore.make(1)
    return yield* SqlClient.make({
      driver: "sqlite-node",
      compiler: Statement.makeCompilerSqlite(),
      acquirer: permit.withPermits(1)(Effect.succeed(connection)),
      transactionAcquirer: lease(permit, connection),
      beginTransaction: "BEGIN IMMEDIATE",
      spanAttributes: []
    })
  })

/** Holds the only connection until the scope of the transaction closes. */
const lease = (permit, connection) =>
  Effect.uninterruptibleMask((restore) => {
    const scope = Context.getUnsafe(Fiber.getCurrent().context, Scope.Scope)
    return restore(permit.take(1)).pipe(
      Effect.tap(() => Scope.addFinalizer(scope, permit.release(1))),
      Effect.as(connection)
    )
  })

/** Provides a SqlClient on a database file; `synchronous` is SQLite's setting, FULL by default. */
export const layer = ({ filename, synchronous = "FULL" }) =>
  Layer.effect(SqlClient.SqlClient, makeClient(filename, synchronous)).pipe(Layer.provide(Reactivity.layer))
