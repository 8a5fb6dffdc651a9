import { randomBytes } from "node:crypto"
import { Effect, Layer } from "effect"
import { assert, describe, it } from "vitest"
import { readSettings, Settings } from "../../../../src/layers/infra/config/Settings.ts"
import { Secrets } from "../../../../src/layers/infra/secrets/Secrets.ts"

const makeSecrets = (key: Buffer) =>
  Effect.runSync(
    Secrets.pipe(
      Effect.provide(
        Layer.provide(Secrets.Default, Layer.effect(Settings, readSettings({ SECRETS_KEY: key.toString("base64") })))
      )
    )
  )

describe("Secrets", () => {
  const secrets = makeSecrets(randomBytes(32))
  const plain = Buffer.from("whsec_plain text of a secret")

  it("decrypts a value in the context of its encryption", () => {
    assert.deepStrictEqual(secrets.open("row 1", secrets.seal("row 1", plain)), plain)
  })

  it("encrypts a value differently each time and without its plain text", () => {
    const [one, two] = [secrets.seal("row 1", plain), secrets.seal("row 1", plain)]
    assert.notDeepEqual(one, two)
    assert.isFalse(one.includes(plain.subarray(0, 6)))
  })

  it("rejects another context, another key and any changed bit", () => {
    const sealed = secrets.seal("row 1", plain)
    assert.throws(() => secrets.open("row 2", sealed))
    assert.throws(() => makeSecrets(randomBytes(32)).open("row 1", sealed))
    for (let i = 1; i < sealed.length; i++) {
      const modified = Buffer.from(sealed)
      modified[i] = (modified[i] ?? 0) ^ 1
      assert.throws(() => secrets.open("row 1", modified))
    }
  })
})
