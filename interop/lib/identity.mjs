/** Identities of the raw client: keys from a root secret, session signatures, sealed batches. */
import { createCipheriv, createDecipheriv, createHash, createPrivateKey, createPublicKey, randomBytes, randomUUID, sign } from "node:crypto"
import { concat, hex, text } from "./bytes.mjs"
import { batchData, encodeEntries, sessionPayload } from "./messages.mjs"

const derive = (label, rootSecret) =>
  createHash("sha256").update(label).update(Uint8Array.of(0)).update(rootSecret).digest()

const signingKey = (rootSecret) =>
  createPrivateKey({
    key: Buffer.concat([hex("302e020100300506032b657004220420"), derive("effect/eventlog/identity/v1/signing", rootSecret)]),
    format: "der",
    type: "pkcs8"
  })

/** An identity; both parts are random unless given. */
export const makeIdentity = ({ publicKey = randomUUID(), rootSecret = new Uint8Array(randomBytes(32)) } = {}) => {
  const privateKey = signingKey(rootSecret)
  const spki = createPublicKey(privateKey).export({ format: "der", type: "spki" })
  return {
    publicKey,
    rootSecret,
    encryptionKey: derive("effect/eventlog/identity/v1/encryption", rootSecret),
    signingPublicKey: new Uint8Array(spki.subarray(-32)),
    sign: (payload) => new Uint8Array(sign(null, payload, privateKey))
  }
}

/** The payload of an Authenticate call that answers `hello`. */
export const authentication = (identity, hello) => ({
  publicKey: identity.publicKey,
  signingPublicKey: identity.signingPublicKey,
  signature: identity.sign(sessionPayload({ ...hello, ...identity })),
  algorithm: "Ed25519"
})

/** A fresh entry id: a UUID of version 7. */
export const entryId = () => {
  const id = randomBytes(16)
  id.writeUIntBE(Date.now(), 0, 6)
  id[6] = 0x70 | (id[6] & 15)
  id[8] = 0x80 | (id[8] & 63)
  return new Uint8Array(id)
}

/** An entry of the raw client, with a fresh id. */
export const makeEntry = (primaryKey, payload, event = "Raw") => ({
  id: entryId(),
  event,
  primaryKey,
  payload: typeof payload === "string" ? text(payload) : payload
})

/** Seals entries into the batch a server stores. */
export const seal = (identity, storeId, entries) => {
  const entryIds = entries.map((entry) => entry.id)
  const iv = new Uint8Array(randomBytes(12))
  const cipher = createCipheriv("aes-256-gcm", identity.encryptionKey, iv).setAAD(batchData(storeId, entryIds))
  const sealed = concat(cipher.update(encodeEntries(entries)), cipher.final(), cipher.getAuthTag())
  return { entryIds, iv, encryptedBatch: sealed }
}

/** The plaintext of a sealed batch; throws when it was tampered with. */
export const unseal = (identity, storeId, { entryIds, iv, encryptedBatch }) => {
  const decipher = createDecipheriv("aes-256-gcm", identity.encryptionKey, iv)
    .setAAD(batchData(storeId, entryIds))
    .setAuthTag(encryptedBatch.subarray(-16))
  return concat(decipher.update(encryptedBatch.subarray(0, -16)), decipher.final())
}

/** A batch of `count` random ids and `size` random bytes: a server cannot tell it from a sealed one. */
export const opaqueBatch = (count, size) => ({
  entryIds: Array.from({ length: count }, entryId),
  iv: new Uint8Array(randomBytes(12)),
  encryptedBatch: new Uint8Array(randomBytes(size))
})
