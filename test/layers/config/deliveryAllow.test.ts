import { Effect } from "effect"
import { assert, describe, it } from "vitest"
import { readSettings } from "../../../src/layers/config/Settings.ts"
import { settingsErrors } from "../../support/assertions/settingsErrors.ts"

describe("the ranges that webhooks may reach besides", () => {
  it("are none unless given, and read with or without spaces", async () => {
    assert.deepStrictEqual((await Effect.runPromise(readSettings({}))).DELIVERY_ALLOW, [])
    const given = { DELIVERY_ALLOW: "127.0.0.0/8, ::1/128,10.1.2.3/32,0.0.0.0/0," }
    assert.deepStrictEqual((await Effect.runPromise(readSettings(given))).DELIVERY_ALLOW, [
      "127.0.0.0/8",
      "::1/128",
      "10.1.2.3/32",
      "0.0.0.0/0"
    ])
  })

  it("have every fault told at once", async () => {
    const wrong = [
      "127.0.0.1",
      "10/8",
      "10.0.0.0/33",
      "::1/129",
      "0x7f.1/8",
      "10.0.0.0/8/8",
      "10.0.0.0/-1",
      "here",
      "/8"
    ]
    const given = { DELIVERY_ALLOW: ["10.0.0.0/8", ...wrong].join(","), PORT: "x" }
    const { errors } = await settingsErrors(given)
    assert.deepStrictEqual(errors, [
      "PORT must be a whole number",
      ...wrong.map(
        (text) => `DELIVERY_ALLOW must be address ranges such as 10.0.0.0/8 or fd00::/8, which ${text} is not`
      )
    ])
  })
})
