import { Effect, Redacted } from "effect"
import { assert, describe, it } from "vitest"
import { readSettings, Settings } from "../../../../src/layers/infra/config/Settings.ts"
import { operatorServer } from "../../../../src/layers/infra/smtp/OperatorServer.ts"
import { settingsErrors } from "../../../support/assertions/settingsErrors.ts"

const read = (environment: NodeJS.ProcessEnv) =>
  Effect.runPromise(
    Effect.flatMap(readSettings(environment), (settings) => Effect.provideService(operatorServer, Settings, settings))
  )

describe("readSettings of SMTP_*", () => {
  it.each([
    [{ SMTP_URL: "smtp://mail.example.com" }, ["SMTP_FROM is required with SMTP_URL"]],
    [{ SMTP_FROM: "books@example.com" }, ["SMTP_URL is required with SMTP_FROM"]],
    [
      { SMTP_URL: "https://mail.example.com", SMTP_FROM: "books" },
      ["SMTP_URL must be a URL starting with smtp:// or smtps://", "SMTP_FROM must be an email address with an @"]
    ]
  ])("reports all errors of %o at once", async (environment, errors) => {
    assert.sameMembers([...(await settingsErrors(environment)).errors], errors)
  })

  it("has no mail server by default, and names the missing settings", async () => {
    assert.deepStrictEqual(await read({}), { found: undefined, missing: ["SMTP_URL", "SMTP_FROM"] })
  })

  it.each([
    ["smtp://mail.example.com", { port: 587, security: "STARTTLS" }],
    ["smtps://mail.example.com", { port: 465, security: "TLS" }],
    ["smtp://mail.example.com:2525", { port: 2525, security: "STARTTLS" }]
  ])("reads the server of %s", async (url, expected) => {
    const { found } = await read({ SMTP_URL: url, SMTP_FROM: "books@example.com" })
    assert.deepStrictEqual(found, {
      server: { host: "mail.example.com", isTrusted: true, ...expected },
      sender: { name: "example.com", address: "books@example.com" }
    } as typeof found) // the table widens the security
  })

  it("reads the name of the sender", async () => {
    const { found } = await read({
      SMTP_URL: "smtp://mail.example.com",
      SMTP_FROM: "Harbour Works <books@example.com>"
    })
    assert.deepStrictEqual(found?.sender, { name: "Harbour Works", address: "books@example.com" })
  })

  it("reads user and password, and redacts them", async () => {
    const environment = { SMTP_URL: "smtp://us%40er:pass%2Fword@mail.example.com", SMTP_FROM: "books@example.com" }
    const { found } = await read(environment)
    assert.strictEqual(found?.server.credentials?.user, "us@er")
    assert.strictEqual(Redacted.value(found?.server.credentials?.password ?? Redacted.make("")), "pass/word")
    assert.notInclude(JSON.stringify(found), "pass/word")
    assert.notInclude(JSON.stringify(await Effect.runPromise(readSettings(environment))), "pass")
  })
})
