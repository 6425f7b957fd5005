import assert from "node:assert/strict"
import { test } from "node:test"
import { openDevice } from "../lib/device.mjs"
import { sleep, steadyPort } from "../lib/harness.mjs"
import { checkStore, PersistentWriter } from "../lib/persistent-writer.mjs"
import { startServer } from "../lib/server.mjs"

const assertIntact = async (writers) => {
  for (const writer of writers) {
    assert.deepEqual(writer.faults, [])
    const { count, lost, gap, twice } = await checkStore(writer)
    assert.deepEqual({ lost, gap, twice }, { lost: [], gap: -1, twice: 0 }, `of ${writer.acked.size} acknowledged, ${count} stored`)
    assert.equal(writer.remoteIds.size, 1, "the remote id stays")
  }
}

/** A device that writes a note now and then, whatever happens to the server. */
const keepWriting = (device, every) => {
  let stopped = false
  const run = async () => {
    for (let index = 0; !stopped; index++) {
      await device.note(`note ${index % 5}`, `number ${index}`)
      await sleep(every)
    }
  }
  const done = run()
  return { stop: () => ((stopped = true), done) }
}

test("devices carry on through restarts of the server under load", async (t) => {
  const server = await startServer(t, { port: await steadyPort() })
  const one = await openDevice(t, { url: server.url })
  const two = await openDevice(t, { url: server.url, identity: one.identity })
  const writer = new PersistentWriter(server)
  t.after(() => writer.stop())
  const loads = [keepWriting(one, 20), keepWriting(two, 30)]
  for (let round = 0; round < 3; round++) {
    await sleep(400)
    const { code, signal, stderr } = await server.stop()
    assert.equal(code, 0, `a stop on request is no failure: ${signal}, ${stderr.slice(-500)}`)
    await server.start()
  }
  await sleep(400)
  await Promise.all([...loads, writer].map((load) => load.stop()))
  const total = one.written.length + two.written.length
  await Promise.all([one, two].flatMap((device) => [device.holds(total, { timeout: 40_000 }), device.synced({ timeout: 40_000 })]))
  const third = await openDevice(t, { url: server.url, identity: one.identity })
  await third.holds(total)
  for (const device of [two, third]) assert.deepEqual(await device.entries(), await one.entries())
  assert.ok(writer.reconnects >= 3 && writer.acked.size > 100, `${writer.acked.size} entries in ${writer.reconnects} reconnects`)
  await assertIntact([writer])
})

test("kill -9 at 20 random moments: acknowledged entries stay, no sequence is given twice, clients carry on", async (t) => {
  const server = await startServer(t, { port: await steadyPort() })
  const writers = [0, 1, 2].map((index) => new PersistentWriter(server, { storeId: `store ${index}` }))
  t.after(() => Promise.all(writers.map((writer) => writer.stop())))
  const device = await openDevice(t, { url: server.url })
  const witness = await openDevice(t, { url: server.url, identity: device.identity })
  const load = keepWriting(device, 25)
  for (let round = 0; round < 20; round++) {
    await sleep(30 + Math.random() * 400)
    await server.kill()
    await server.start()
  }
  await sleep(300)
  await Promise.all([...writers, load].map((each) => each.stop()))
  await assertIntact(writers)
  const acked = writers.reduce((sum, writer) => sum + writer.acked.size, 0)
  assert.ok(acked > 200, `load was there: ${acked} entries`)
  await Promise.all([device.synced({ timeout: 45_000 }), witness.holds(device.written.length, { timeout: 45_000 })])
  assert.deepEqual(await witness.entries(), await device.entries())
  const fresh = await openDevice(t, { url: server.url, identity: device.identity })
  await fresh.holds(device.written.length)
  t.diagnostic(`${acked} acknowledged entries of raw writers, ${device.written.length} notes of a device`)
})
