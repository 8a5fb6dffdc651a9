import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto"
import { join } from "node:path"
import { Effect, Redacted } from "effect"
import { keyFile } from "../config/KeyFile.ts"
import { Settings } from "../config/Settings.ts"

const algorithm = "aes-256-gcm"
const nonceBytes = 12
const tagBytes = 16

/** The first byte says which form the rest has, so that a later form can be told apart. */
const form = 1

const key = Effect.gen(function* () {
  const { DATA_DIR, SECRETS_KEY } = yield* Settings
  const text =
    SECRETS_KEY === undefined
      ? yield* keyFile(join(DATA_DIR, "secrets.key"), async () => randomBytes(32).toString("base64"))
      : Redacted.value(SECRETS_KEY)
  return Buffer.from(text, "base64")
})

/** Encryption at rest. `place` names where the secret lies; moved anywhere else it does not open. */
export class Secrets extends Effect.Service<Secrets>()("layers/Secrets", {
  effect: Effect.map(key, (key) => ({
    seal: (place: string, plain: Uint8Array): Buffer => {
      const nonce = randomBytes(nonceBytes)
      const cipher = createCipheriv(algorithm, key, nonce).setAAD(Buffer.from(place))
      const sealed = Buffer.concat([cipher.update(plain), cipher.final()])
      return Buffer.concat([Buffer.of(form), nonce, cipher.getAuthTag(), sealed])
    },

    /** A key for another purpose, from which this one cannot be found out. */
    derived: (purpose: string): Buffer => Buffer.from(hkdfSync("sha256", key, "", purpose, 32)),

    /** Throws when the secret was tampered with, sealed for another place, or under another key. */
    open: (place: string, sealed: Uint8Array): Buffer => {
      const bytes = Buffer.from(sealed)
      const nonce = bytes.subarray(1, 1 + nonceBytes)
      const tag = bytes.subarray(1 + nonceBytes, 1 + nonceBytes + tagBytes)
      const decipher = createDecipheriv(algorithm, key, nonce).setAAD(Buffer.from(place)).setAuthTag(tag)
      return Buffer.concat([decipher.update(bytes.subarray(1 + nonceBytes + tagBytes)), decipher.final()])
    }
  }))
}) {}
