import { hkdfSync, randomBytes } from "node:crypto"
import { join } from "node:path"
import { Effect, Redacted } from "effect"
import { loadOrCreateKeyFile } from "../config/KeyFile.ts"
import { Settings, splitList } from "../config/Settings.ts"

/** Derives a key for another purpose, which does not reveal the first one. */
export const derive = (key: Buffer, purpose: string, bytes = 32): Buffer =>
  Buffer.from(hkdfSync("sha256", key, "", purpose, bytes))

export interface SecretKey {
  /** Identifies the key in the database and in messages, and does not reveal it. */
  readonly id: string
  readonly bytes: Buffer
}

const toSecretKey = (text: string): SecretKey => {
  const bytes = Buffer.from(text, "base64")
  return { id: derive(bytes, "key id", 4).toString("hex"), bytes }
}

/** The keys of SECRETS_KEY. The first one encrypts; the others only decrypt. */
export const keyRing = Effect.gen(function* () {
  const { DATA_DIR, SECRETS_KEY } = yield* Settings
  const texts =
    SECRETS_KEY === undefined
      ? [yield* loadOrCreateKeyFile(join(DATA_DIR, "secrets.key"), async () => randomBytes(32).toString("base64"))]
      : splitList(Redacted.value(SECRETS_KEY))
  const [newest = "", ...older] = texts
  return [toSecretKey(newest), ...older.map(toSecretKey)] as const
})
