import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto"
import { join } from "node:path"
import { Effect, Redacted } from "effect"
import { loadOrCreateKeyFile } from "../config/KeyFile.ts"
import { Settings } from "../config/Settings.ts"

const algorithm = "aes-256-gcm"
const nonceBytes = 12
const tagBytes = 16

/** The first byte of the sealed bytes, so that a later format can be recognized. */
const formatVersion = 1

const key = Effect.gen(function* () {
  const { DATA_DIR, SECRETS_KEY } = yield* Settings
  const text =
    SECRETS_KEY === undefined
      ? yield* loadOrCreateKeyFile(join(DATA_DIR, "secrets.key"), async () => randomBytes(32).toString("base64"))
      : Redacted.value(SECRETS_KEY)
  return Buffer.from(text, "base64")
})

/** Encryption at rest. `associatedData` names the row of the secret: copied to another row, it cannot be decrypted. */
export class Secrets extends Effect.Service<Secrets>()("layers/Secrets", {
  effect: Effect.map(key, (key) => ({
    seal: (associatedData: string, plain: Uint8Array): Buffer => {
      const nonce = randomBytes(nonceBytes)
      const cipher = createCipheriv(algorithm, key, nonce).setAAD(Buffer.from(associatedData))
      const sealed = Buffer.concat([cipher.update(plain), cipher.final()])
      return Buffer.concat([Buffer.of(formatVersion), nonce, cipher.getAuthTag(), sealed])
    },

    /** Derives a key for another purpose, which does not reveal this one. */
    deriveKey: (purpose: string): Buffer => Buffer.from(hkdfSync("sha256", key, "", purpose, 32)),

    /** Throws if the secret was modified, or sealed with other associated data or another key. */
    open: (associatedData: string, sealed: Uint8Array): Buffer => {
      const bytes = Buffer.from(sealed)
      const nonce = bytes.subarray(1, 1 + nonceBytes)
      const tag = bytes.subarray(1 + nonceBytes, 1 + nonceBytes + tagBytes)
      const decipher = createDecipheriv(algorithm, key, nonce).setAAD(Buffer.from(associatedData)).setAuthTag(tag)
      return Buffer.concat([decipher.update(bytes.subarray(1 + nonceBytes + tagBytes)), decipher.final()])
    }
  }))
}) {}
