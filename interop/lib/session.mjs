/** Shorthands of the raw tests: logged-in connections and the sequences of acks. */
import { makeIdentity } from "./identity.mjs"
import { connect } from "./wire.mjs"

/** Opens a connection that has logged in; it is closed when the test ends. `first` is the server's first sequence. */
export const openSession = async (t, server, { identity = makeIdentity(), url = server.url } = {}) => {
  const client = await connect(url)
  t.after(() => client.terminate())
  const hello = await client.login(identity)
  const session = {
    client,
    identity,
    hello,
    first: hello.firstSequence ?? 0,
    write: (storeId, batches) => client.write(identity, storeId, batches),
    changes: (storeId, start, options) => client.changes(identity, storeId, start, options)
  }
  return session
}

/** The sequences of acks, counted from the first one a server assigns. */
export const sequences = (acks, first = 0) => acks.map(({ sequence }) => sequence - first)
