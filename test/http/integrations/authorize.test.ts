import { createHash } from "node:crypto"
import { assert, describe, it } from "vitest"
import { assertValidationError, type ExpectedError } from "../../support/assertions/failures.ts"
import {
  authorizationClient,
  minimalDrive,
  minimalJira,
  startServiceWithProvider
} from "../../support/fixtures/authorizations.ts"
import { setStatus } from "../../support/fixtures/integrationRows.ts"
import { integrationClient, minimalNats, minimalWebhook } from "../../support/fixtures/integrations.ts"
import { useFixture } from "../../support/fixtures/useFixture.ts"
import { publicUrl } from "../../support/servers/oauthProvider.ts"
import { startService } from "../../support/servers/service.ts"

const common = [
  "response_type",
  "client_id",
  "redirect_uri",
  "scope",
  "state",
  "code_challenge",
  "code_challenge_method"
]

describe("an integration that has to be authorized", () => {
  const at = useFixture(startServiceWithProvider)
  const ours = () => authorizationClient(at().service, at().server, at().tenant)

  it.each([minimalJira, minimalDrive])("starts as $provider with nobody having done so", async (fields) => {
    const made = await ours().made(fields)
    assert.deepInclude(made, { provider: fields.provider, status: "PENDING_AUTH", isAuthorized: false })
    assert.notProperty(made, "secret")
  })

  it("takes the settings its provider knows, up to their bounds", async () => {
    const config = { siteId: "s".repeat(100), jql: "q".repeat(500) }
    assert.deepStrictEqual((await ours().made({ ...minimalJira, config })).config, config)
  })

  it.each<[object, ...Array<ExpectedError>]>([
    [{ ...minimalDrive, config: {} }, ["config.folderId", "required", "is required"]],
    [
      { ...minimalJira, config: { jql: "q".repeat(501) } },
      ["config.jql", "maxLength", "must have at most 500 characters"]
    ],
    [{ ...minimalJira, config: { siteId: "" } }, ["config.siteId", "minLength", "must have at least 1 character"]],
    [{ ...minimalJira, config: { folderId: "f" } }, ["config.folderId", "unknown", "means nothing to JIRA"]],
    [
      { ...minimalWebhook, config: { ...minimalWebhook.config, jql: "q" } },
      ["config.jql", "unknown", "means nothing to WEBHOOK"]
    ]
  ])("is not made of %j", async (body, ...faults) => {
    assertValidationError(await ours().create(body), ...faults)
  })

  it("is authorized with Jira at an address that says all it must", async () => {
    const { id } = await ours().made(minimalJira)
    const url = new URL(await ours().begun(id))
    assert.strictEqual(url.origin + url.pathname, `${at().server.url}/authorize`)
    const { state = "", code_challenge = "", ...rest } = Object.fromEntries(url.searchParams)
    assert.deepStrictEqual(rest, {
      response_type: "code",
      client_id: "jira-client",
      redirect_uri: `${publicUrl}/api/v1/integrations/oauth/callback`,
      scope: "read:jira-work manage:jira-webhook offline_access",
      code_challenge_method: "S256",
      audience: "api.atlassian.com",
      prompt: "consent"
    })
    for (const word of [state, code_challenge]) assert.match(word, /^[\w-]{43}$/)
    assert.notStrictEqual(new URL(await ours().begun(id)).searchParams.get("state"), state)
  })

  it("is authorized with Google at an address that says all it must", async () => {
    const { id } = await ours().made(minimalDrive)
    const asks = new URL(await ours().begun(id)).searchParams
    assert.sameMembers([...asks.keys()], [...common, "access_type", "prompt", "include_granted_scopes"])
    assert.strictEqual(asks.get("scope"), "https://www.googleapis.com/auth/drive.file")
    assert.strictEqual(asks.get("access_type"), "offline")
    assert.strictEqual(asks.get("prompt"), "consent")
    assert.strictEqual(asks.get("include_granted_scopes"), "true")
  })

  it("is remembered by the hash of its state, for ten minutes, with who began and where", async () => {
    const { id } = await ours().made(minimalDrive)
    const state = new URL(await ours().begun(id)).searchParams.get("state") ?? ""
    const { rows } = await at().pool.query(
      `select hash, provider, subject, origin, consumed_at,
         extract(epoch from expires_at - now()) between 590 and 600 as soon
       from oauth_states where integration_id = $1`,
      [id]
    )
    assert.lengthOf(rows, 1)
    assert.deepInclude(rows[0], {
      provider: "GOOGLE_DRIVE",
      subject: "owner",
      origin: "https://app.example.test",
      consumed_at: null,
      soon: true
    })
    assert.isTrue(createHash("sha256").update(state).digest().equals(rows[0].hash))
  })

  it.each([
    "https://evil.example.test",
    "https://app.example.test/",
    "https://app.example.test:443",
    "http://app.example.test",
    "https://APP.example.test",
    "*",
    "null"
  ])("is not authorized for the origin %s", async (origin) => {
    const { id } = await ours().made(minimalDrive)
    assertValidationError(await ours().begin(id, origin), ["origin", "enum", "is not a trusted origin"])
  })

  it.each([minimalWebhook, minimalNats])("is none with $provider", async (fields) => {
    const { id } = await ours().made(fields)
    const fault = ["provider", "state", `is ${fields.provider}, which needs no authorization`] as const
    assertValidationError(await ours().begin(id), [...fault])
  })

  it("is authorized in every status but PAUSED", async () => {
    const { id } = await ours().made(minimalDrive)
    for (const status of ["PENDING_AUTH", "ERROR", "ACTIVE"]) {
      await setStatus(at().pool, id, status)
      await ours().begun(id)
    }
    await setStatus(at().pool, id, "PAUSED")
    assertValidationError(await ours().begin(id), [
      "status",
      "state",
      "is PAUSED; only PENDING_AUTH or ERROR or ACTIVE can become ACTIVE"
    ])
  })

  it("does not go on before it is authorized", async () => {
    const { id } = await ours().made(minimalDrive)
    await setStatus(at().pool, id, "ERROR")
    assertValidationError(await ours().move(id, "resume"), [
      "isAuthorized",
      "state",
      "is false; authorize the integration first"
    ])
  })

  it("is not authorized by who saw another version of it", async () => {
    const { id } = await ours().made(minimalDrive)
    const stale = await ours().call(
      "POST",
      `/${id}/authorize`,
      { origin: "https://app.example.test" },
      { "if-match": '"x"' }
    )
    assert.strictEqual(stale.status, 412)
  })
})

describe("without the settings of a provider", () => {
  it.each([
    [{}, minimalJira, "JIRA_CLIENT_ID, JIRA_CLIENT_SECRET, PUBLIC_URL"],
    [{}, minimalDrive, "GOOGLE_CLIENT_ID, GOOGLE_CLIENT_SECRET, PUBLIC_URL"],
    [{ JIRA_CLIENT_ID: "i", JIRA_CLIENT_SECRET: "s" }, minimalJira, "PUBLIC_URL"],
    [{ GOOGLE_CLIENT_ID: "i", PUBLIC_URL: publicUrl }, minimalDrive, "GOOGLE_CLIENT_SECRET"]
  ])("no integration is made: %j", async (environment, fields, missing) => {
    const service = await startService(environment as Readonly<Record<string, string>>) // the rows differ in their keys
    try {
      const ours = integrationClient(service, await service.newTenant())
      const message = `this server is not configured for ${fields.provider}: it lacks ${missing}`
      assertValidationError(await ours.create(fields), ["provider", "state", message])
    } finally {
      await service.stop()
    }
  })
})
