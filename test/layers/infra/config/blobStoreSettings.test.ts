import { Effect, Redacted } from "effect"
import { assert, describe, it } from "vitest"
import { readSettings } from "../../../../src/layers/infra/config/Settings.ts"
import { settingsErrors } from "../../../support/assertions/settingsErrors.ts"

const errorsOf = async (environment: NodeJS.ProcessEnv) => (await settingsErrors(environment)).errors

describe("readSettings of BLOB_STORE_*", () => {
  it.each([
    [
      { BLOB_STORE_BUCKET: "b", BLOB_STORE_ACCESS_KEY_ID: "i" },
      ["BLOB_STORE_SECRET_ACCESS_KEY is required with BLOB_STORE_ACCESS_KEY_ID"]
    ],
    [
      { BLOB_STORE_BUCKET: "b", BLOB_STORE_SECRET_ACCESS_KEY: "s" },
      ["BLOB_STORE_ACCESS_KEY_ID is required with BLOB_STORE_SECRET_ACCESS_KEY"]
    ],
    [{ BLOB_STORE_REGION: "r" }, ["BLOB_STORE_BUCKET is required with BLOB_STORE_REGION"]],
    [
      { BLOB_STORE_ENDPOINT: "here", BLOB_STORE_PREFIX: "../x", BLOB_STORE_ACCESS_KEY_ID: "i", PORT: "x" },
      [
        "PORT must be a whole number",
        "BLOB_STORE_ENDPOINT must be a URL starting with http:// or https://",
        "BLOB_STORE_PREFIX must be words of letters, digits, '.', '_' and '-' with '/' between them",
        "BLOB_STORE_SECRET_ACCESS_KEY is required with BLOB_STORE_ACCESS_KEY_ID",
        "BLOB_STORE_BUCKET is required with BLOB_STORE_ENDPOINT, BLOB_STORE_PREFIX, BLOB_STORE_ACCESS_KEY_ID"
      ]
    ]
  ])("reports all errors of %o at once", async (environment, errors) => {
    assert.sameMembers([...(await errorsOf(environment))], errors)
  })

  it("accepts a bucket without keys and redacts the secret key", async () => {
    const withoutKeys = await Effect.runPromise(readSettings({ BLOB_STORE_BUCKET: "b" }))
    assert.deepInclude(withoutKeys, { BLOB_STORE_BUCKET: "b", BLOB_STORE_REGION: "us-east-1" })
    const keys = { BLOB_STORE_ACCESS_KEY_ID: "i", BLOB_STORE_SECRET_ACCESS_KEY: "hidden" }
    const withKeys = await Effect.runPromise(readSettings({ BLOB_STORE_BUCKET: "b", ...keys }))
    assert.isTrue(Redacted.isRedacted(withKeys.BLOB_STORE_SECRET_ACCESS_KEY))
    assert.notInclude(JSON.stringify(withKeys), "hidden")
  })
})
