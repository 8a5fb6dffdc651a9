import { randomBytes } from "node:crypto"
import { Effect, Layer } from "effect"
import { assert, describe, it } from "vitest"
import { readSettings, Settings } from "../../../src/layers/config/Settings.ts"
import { Secrets } from "../../../src/layers/secrets/Secrets.ts"

const secretsUnder = (key: Buffer) =>
  Effect.runSync(
    Secrets.pipe(
      Effect.provide(
        Layer.provide(Secrets.Default, Layer.effect(Settings, readSettings({ SECRETS_KEY: key.toString("base64") })))
      )
    )
  )

describe("secrets at rest", () => {
  const secrets = secretsUnder(randomBytes(32))
  const plain = Buffer.from("whsec_something nobody else may read")

  it("open where they were sealed", () => {
    assert.deepStrictEqual(secrets.open("row 1", secrets.seal("row 1", plain)), plain)
  })

  it("look different each time and never show what they hold", () => {
    const [one, two] = [secrets.seal("row 1", plain), secrets.seal("row 1", plain)]
    assert.notDeepEqual(one, two)
    assert.isFalse(one.includes(plain.subarray(0, 6)))
  })

  it("do not open in another place, under another key, or when a bit was changed", () => {
    const sealed = secrets.seal("row 1", plain)
    assert.throws(() => secrets.open("row 2", sealed))
    assert.throws(() => secretsUnder(randomBytes(32)).open("row 1", sealed))
    for (let i = 1; i < sealed.length; i++) {
      const touched = Buffer.from(sealed)
      touched[i] = (touched[i] ?? 0) ^ 1
      assert.throws(() => secrets.open("row 1", touched))
    }
  })
})
