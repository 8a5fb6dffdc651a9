import { Effect } from "effect"
import { assert, describe, it } from "vitest"
import { readSettings } from "../../../../src/layers/infra/config/Settings.ts"
import { settingsErrors } from "../../../support/assertions/settingsErrors.ts"

describe("readSettings of DELIVERY_ALLOW", () => {
  it("defaults to no ranges and accepts spaces between ranges", async () => {
    assert.deepStrictEqual((await Effect.runPromise(readSettings({}))).DELIVERY_ALLOW, [])
    const environment = { DELIVERY_ALLOW: "127.0.0.0/8, ::1/128,10.1.2.3/32,0.0.0.0/0," }
    assert.deepStrictEqual((await Effect.runPromise(readSettings(environment))).DELIVERY_ALLOW, [
      "127.0.0.0/8",
      "::1/128",
      "10.1.2.3/32",
      "0.0.0.0/0"
    ])
  })

  it("reports all invalid ranges at once", async () => {
    const invalid = [
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
    const environment = { DELIVERY_ALLOW: ["10.0.0.0/8", ...invalid].join(","), PORT: "x" }
    const { errors } = await settingsErrors(environment)
    assert.deepStrictEqual(errors, [
      "PORT must be a whole number",
      ...invalid.map(
        (text) => `DELIVERY_ALLOW must be address ranges such as 10.0.0.0/8 or fd00::/8, which ${text} is not`
      )
    ])
  })
})
