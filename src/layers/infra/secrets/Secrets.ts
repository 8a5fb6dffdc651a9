import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto"
import { Effect } from "effect"
import { derive, keyRing, type SecretKey } from "./KeyRing.ts"

const algorithm = "aes-256-gcm"
const nonceBytes = 12
const tagBytes = 16

/** The first byte of the sealed bytes, so that a later format can be recognized. */
const formatVersion = 1

const openWith = (key: SecretKey, associatedData: string, sealed: Uint8Array): Buffer => {
  const bytes = Buffer.from(sealed)
  const nonce = bytes.subarray(1, 1 + nonceBytes)
  const tag = bytes.subarray(1 + nonceBytes, 1 + nonceBytes + tagBytes)
  const decipher = createDecipheriv(algorithm, key.bytes, nonce).setAAD(Buffer.from(associatedData)).setAuthTag(tag)
  return Buffer.concat([decipher.update(bytes.subarray(1 + nonceBytes + tagBytes)), decipher.final()])
}

/** Decrypts with one of the keys, usually the first. Authentication tells which one it was. */
const openWithAny = (keys: ReadonlyArray<SecretKey>, associatedData: string, sealed: Uint8Array): Buffer => {
  const [first, ...others] = keys
  if (first === undefined) throw new Error("The secret was modified, or encrypted with a key that SECRETS_KEY lacks")
  try {
    return openWith(first, associatedData, sealed)
  } catch {
    return openWithAny(others, associatedData, sealed)
  }
}

/** Encryption at rest. `associatedData` names the row of the secret: copied to another row, it cannot be decrypted. */
export class Secrets extends Effect.Service<Secrets>()("layers/Secrets", {
  effect: Effect.map(keyRing, (keys) => {
    const [newest] = keys
    const open = (associatedData: string, sealed: Uint8Array) => openWithAny(keys, associatedData, sealed)
    const seal = (associatedData: string, plain: Uint8Array): Buffer => {
      const nonce = randomBytes(nonceBytes)
      const cipher = createCipheriv(algorithm, newest.bytes, nonce).setAAD(Buffer.from(associatedData))
      const sealed = Buffer.concat([cipher.update(plain), cipher.final()])
      return Buffer.concat([Buffer.of(formatVersion), nonce, cipher.getAuthTag(), sealed])
    }
    const isCurrent = (associatedData: string, sealed: Uint8Array) => {
      try {
        openWith(newest, associatedData, sealed)
        return true
      } catch {
        return false
      }
    }

    return {
      /** The ids of the keys, the newest first. */
      keyIds: [newest.id, ...keys.slice(1).map(({ id }) => id)] as const,

      seal,

      /** Throws if the secret was modified, or sealed with other associated data or a key that is not in the ring. */
      open,

      /** Seals again with the newest key. Returns undefined if that has sealed it already. */
      reseal: (associatedData: string, sealed: Uint8Array) =>
        isCurrent(associatedData, sealed) ? undefined : seal(associatedData, open(associatedData, sealed)),

      /** A key for another purpose from each key of the ring, the newest first. */
      deriveKeys: (purpose: string) => keys.map(({ bytes }) => derive(bytes, purpose))
    }
  })
}) {}
