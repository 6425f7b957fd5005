import assert from "node:assert/strict"
import { chmodSync, existsSync, mkdirSync, openSync, readdirSync, readFileSync, truncateSync, writeFileSync, writeSync } from "node:fs"
import { once } from "node:events"
import { createServer } from "node:net"
import { join } from "node:path"
import { test } from "node:test"
import { noise, oursOnly, temporaryFolder } from "../lib/harness.mjs"
import { opaqueBatch } from "../lib/identity.mjs"
import { runServer, startServer } from "../lib/server.mjs"
import { openSession } from "../lib/session.mjs"

const anyPort = ["--listen", "127.0.0.1:0"]

/** A start that must fail: one clear line on stderr that matches, exit status 1 or 2, nothing on stdout. */
const assertRefused = async (args, pattern, options) => {
  const { code, stdout, stderr } = await runServer(args, options)
  const told = `${args.join(" ")}: exit ${code}, stderr ${JSON.stringify(stderr)}`
  assert.ok(code === 1 || code === 2, told)
  assert.equal(stdout, "", told)
  assert.equal(stderr.trim().split("\n").length, 1, `one line: ${told}`)
  assert.match(stderr, pattern, told)
  assert.doesNotMatch(stderr, /panicked|backtrace|Error \{|unwrap/, told)
}

/** A data directory that a server has used and left. */
const usedData = async (t) => {
  const server = await startServer(t)
  const { write } = await openSession(t, server)
  await write("s", Array.from({ length: 50 }, () => opaqueBatch(10, 3_000)))
  await server.stop()
  const files = readdirSync(server.dataDir, { recursive: true }).map((name) => join(server.dataDir, name))
  const database = files.find((path) => existsSync(path) && isDatabase(path))
  assert.ok(database, `a database among ${files}`)
  return { dataDir: server.dataDir, database }
}

const isDatabase = (path) => {
  try {
    return readFileSync(path).subarray(0, 15).toString() === "SQLite format 3"
  } catch {
    return false
  }
}

test("a data directory that cannot be used is named", oursOnly, async (t) => {
  const folder = temporaryFolder(t)
  const file = join(folder, "a file")
  writeFileSync(file, "not a directory")
  await assertRefused([...anyPort, "--data", file], /a file/)
  await assertRefused([...anyPort, "--data", join(file, "below")], /a file/)
  await assertRefused([...anyPort, "--data", "/proc/logkeep-cannot-be-here"], /\/proc\/logkeep-cannot-be-here/)
  if (process.getuid() === 0) return t.diagnostic("root reads every directory: the unreadable one is left out")
  const closed = join(folder, "closed")
  mkdirSync(closed)
  chmodSync(closed, 0o000)
  await assertRefused([...anyPort, "--data", closed], /closed/)
})

test("a port in use is named", oursOnly, async (t) => {
  const taken = createServer().listen(0, "127.0.0.1")
  await once(taken, "listening")
  t.after(() => taken.close())
  const address = `127.0.0.1:${taken.address().port}`
  await assertRefused(["--listen", address, "--data", temporaryFolder(t)], new RegExp(address))
  await assertRefused([...anyPort, "--listen-tcp", address, "--data", temporaryFolder(t)], new RegExp(address))
})

test("a second server on the same data says so, the first is not disturbed", oursOnly, async (t) => {
  const server = await startServer(t)
  await assertRefused([...anyPort, "--data", server.dataDir], /in use|another|running|lock/i)
  const { write } = await openSession(t, server)
  await write("s", [opaqueBatch(1, 10)])
  await server.kill()
  await server.start()
  await openSession(t, server)
})

test("a corrupt database is refused and not touched", oursOnly, async (t) => {
  const damages = {
    "overwritten from the start": (path) => writeSync(openSync(path, "r+"), noise(8_192), 0, 8_192, 0),
    "another kind of file": (path) => writeFileSync(path, "these are my holiday notes\n".repeat(1_000)),
    "cut in half": (path) => truncateSync(path, 20_000)
  }
  for (const [name, damage] of Object.entries(damages)) {
    const { dataDir, database } = await usedData(t)
    damage(database)
    const before = readFileSync(database)
    await assertRefused([...anyPort, "--data", dataDir], /damaged|not a database|malformed/i)
    assert.equal(Buffer.compare(readFileSync(database), before), 0, `${name}: left as it was`)
  }
})

test("a database of a newer version is refused", oursOnly, async (t) => {
  const { DatabaseSync } = await import("node:sqlite")
  const { dataDir, database } = await usedData(t)
  const db = new DatabaseSync(database)
  db.exec("PRAGMA user_version = 9999")
  db.close()
  await assertRefused([...anyPort, "--data", dataDir], /newer|version/i)
})

test("impossible options are refused with what is wrong", oursOnly, async (t) => {
  const data = ["--data", temporaryFolder(t)]
  await assertRefused([...data, "--listen", "nonsense"], /nonsense/)
  await assertRefused([...data, "--listen", "127.0.0.1:99999"], /99999/)
  await assertRefused([...data, "--listen"], /--listen/)
  await assertRefused([...data, ...anyPort, "--no-such-option"], /--no-such-option/)
  await assertRefused([...data, ...anyPort, "stray"], /stray/)
})

test("an address of another machine is refused", oursOnly, async (t) => {
  await assertRefused(["--listen", "192.0.2.1:0", "--data", temporaryFolder(t)], /192\.0\.2\.1/)
})

test("memory-only data leaves no file, and a stopped server leaves its data for the next", oursOnly, async (t) => {
  const volatile = await startServer(t, { dataDir: ":memory:" })
  assert.equal((await (await openSession(t, volatile)).write("s", [opaqueBatch(1, 10)])).length, 1)
  assert.equal(existsSync(":memory:"), false)
  const server = await startServer(t)
  const session = await openSession(t, server)
  const acks = await session.write("s", [opaqueBatch(2, 10)])
  const { code, stderr } = await server.stop()
  assert.deepEqual({ code, panics: /panicked/.test(stderr) }, { code: 0, panics: false })
  assert.deepEqual(readdirSync(server.dataDir).filter((name) => name.endsWith("-wal")), [], "the write-ahead log is applied")
  await server.start()
  const again = await openSession(t, server, { identity: session.identity })
  assert.deepEqual(again.hello.remoteId, session.hello.remoteId)
  const stream = again.changes("s")
  await stream.entries(2)
  assert.deepEqual(stream.positions().map(([, sequence]) => sequence), acks.map(({ sequence }) => sequence))
})

test("a stop on request ends within 10 s although clients hold on, a second signal at once", oursOnly, async (t) => {
  const server = await startServer(t)
  const { client, identity, write } = await openSession(t, server)
  await write("s", [opaqueBatch(1, 400_000)])
  client.changes(identity, "s", 0, { manual: true })
  const start = performance.now()
  server.signal("SIGTERM")
  const { code } = await server.exited
  assert.equal(code, 0)
  assert.ok(performance.now() - start < 10_000)
  await client.closed
})
