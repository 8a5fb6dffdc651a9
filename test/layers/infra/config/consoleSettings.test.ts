import { assert, describe, it } from "vitest"
import { settingsErrors } from "../../../support/assertions/settingsErrors.ts"

describe("CONSOLE_OIDC_CLIENT_ID", () => {
  it("needs an issuer that is a URL", async () => {
    const expected = ["AUTH_ISSUER must be a URL with CONSOLE_OIDC_CLIENT_ID, which signs people in there"]
    const client = { CONSOLE_OIDC_CLIENT_ID: "console" }
    assert.deepStrictEqual((await settingsErrors(client)).errors, expected)
    const keys = { AUTH_JWKS_URL: "https://id.example.com/keys" }
    assert.deepStrictEqual((await settingsErrors({ ...client, ...keys, AUTH_ISSUER: "issuer" })).errors, expected)
  })
})
