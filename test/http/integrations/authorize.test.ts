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

const commonParameters = [
  "response_type",
  "client_id",
  "redirect_uri",
  "scope",
  "state",
  "code_challenge",
  "code_challenge_method"
]

describe("An OAuth integration", () => {
  const fixture = useFixture(startServiceWithProvider)
  const integrations = () => authorizationClient(fixture().service, fixture().server, fixture().tenant)

  it.each([minimalJira, minimalDrive])("of $provider is created with status PENDING_AUTH", async (fields) => {
    const integration = await integrations().mustCreate(fields)
    assert.deepInclude(integration, { provider: fields.provider, status: "PENDING_AUTH", isAuthorized: false })
    assert.notProperty(integration, "secret")
  })

  it("accepts config values of the maximum length", async () => {
    const config = { siteId: "s".repeat(100), jql: "q".repeat(500) }
    assert.deepStrictEqual((await integrations().mustCreate({ ...minimalJira, config })).config, config)
  })

  it.each<[object, ...Array<ExpectedError>]>([
    [{ ...minimalDrive, config: {} }, ["config.folderId", "required", "is required"]],
    [
      { ...minimalJira, config: { jql: "q".repeat(501) } },
      ["config.jql", "maxLength", "must have at most 500 characters"]
    ],
    [{ ...minimalJira, config: { siteId: "" } }, ["config.siteId", "minLength", "must have at least 1 character"]],
    [{ ...minimalJira, config: { folderId: "f" } }, ["config.folderId", "unknown", "is not supported for JIRA"]],
    [
      { ...minimalWebhook, config: { ...minimalWebhook.config, jql: "q" } },
      ["config.jql", "unknown", "is not supported for WEBHOOK"]
    ]
  ])("is not created from %j", async (body, ...expectedErrors) => {
    assertValidationError(await integrations().create(body), ...expectedErrors)
  })

  it("of Jira gets an authorization URL with all parameters", async () => {
    const { id } = await integrations().mustCreate(minimalJira)
    const url = new URL(await integrations().authorizationUrlOf(id))
    assert.strictEqual(url.origin + url.pathname, `${fixture().server.url}/authorize`)
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
    for (const value of [state, code_challenge]) assert.match(value, /^[\w-]{43}$/)
    assert.notStrictEqual(new URL(await integrations().authorizationUrlOf(id)).searchParams.get("state"), state)
  })

  it("of Google Drive gets an authorization URL with all parameters", async () => {
    const { id } = await integrations().mustCreate(minimalDrive)
    const parameters = new URL(await integrations().authorizationUrlOf(id)).searchParams
    assert.sameMembers([...parameters.keys()], [...commonParameters, "access_type", "prompt", "include_granted_scopes"])
    assert.strictEqual(parameters.get("scope"), "https://www.googleapis.com/auth/drive.file")
    assert.strictEqual(parameters.get("access_type"), "offline")
    assert.strictEqual(parameters.get("prompt"), "consent")
    assert.strictEqual(parameters.get("include_granted_scopes"), "true")
  })

  it("stores the hash of its OAuth state for ten minutes, with subject and origin", async () => {
    const { id } = await integrations().mustCreate(minimalDrive)
    const state = new URL(await integrations().authorizationUrlOf(id)).searchParams.get("state") ?? ""
    const { rows } = await fixture().pool.query(
      `select hash, provider, subject, origin, consumed_at,
         extract(epoch from expires_at - now()) between 590 and 600 as is_expected
       from oauth_states where integration_id = $1`,
      [id]
    )
    assert.lengthOf(rows, 1)
    assert.deepInclude(rows[0], {
      provider: "GOOGLE_DRIVE",
      subject: "owner",
      origin: "https://app.example.test",
      consumed_at: null,
      is_expected: true
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
  ])("cannot be authorized from the untrusted origin %s", async (origin) => {
    const { id } = await integrations().mustCreate(minimalDrive)
    assertValidationError(await integrations().begin(id, origin), [
      "origin",
      "enum",
      "must be an origin that the operator lists in OAUTH_TRUSTED_ORIGINS"
    ])
  })

  it("can be authorized from the console, at the public address of the service", async () => {
    const { id } = await integrations().mustCreate(minimalDrive)
    assert.strictEqual((await integrations().begin(id, publicUrl)).status, 200)
  })

  it.each([minimalWebhook, minimalNats])("cannot be of $provider, which needs no authorization", async (fields) => {
    const { id } = await integrations().mustCreate(fields)
    const expectedError = ["provider", "state", `is ${fields.provider}, which needs no authorization`] as const
    assertValidationError(await integrations().begin(id), [...expectedError])
  })

  it("can be authorized in every status except PAUSED", async () => {
    const { id } = await integrations().mustCreate(minimalDrive)
    for (const status of ["PENDING_AUTH", "ERROR", "ACTIVE"]) {
      await setStatus(fixture().pool, id, status)
      await integrations().authorizationUrlOf(id)
    }
    await setStatus(fixture().pool, id, "PAUSED")
    assertValidationError(await integrations().begin(id), [
      "status",
      "state",
      "is PAUSED; only an integration that is PENDING_AUTH or ERROR or ACTIVE can become ACTIVE"
    ])
  })

  it("cannot be resumed before it is authorized", async () => {
    const { id } = await integrations().mustCreate(minimalDrive)
    await setStatus(fixture().pool, id, "ERROR")
    assertValidationError(await integrations().transition(id, "resume"), [
      "isAuthorized",
      "state",
      "is false; authorize the integration first"
    ])
  })

  it("is not authorized when If-Match names another version", async () => {
    const { id } = await integrations().mustCreate(minimalDrive)
    const stale = await integrations().call(
      "POST",
      `/${id}/authorize`,
      { origin: "https://app.example.test" },
      { "if-match": '"x"' }
    )
    assert.strictEqual(stale.status, 412)
  })
})

describe("A service without the settings of a provider", () => {
  it.each([
    [{}, minimalJira, "JIRA_CLIENT_ID, JIRA_CLIENT_SECRET, PUBLIC_URL"],
    [{}, minimalDrive, "GOOGLE_CLIENT_ID, GOOGLE_CLIENT_SECRET, PUBLIC_URL"],
    [{ JIRA_CLIENT_ID: "i", JIRA_CLIENT_SECRET: "s" }, minimalJira, "PUBLIC_URL"],
    [{ GOOGLE_CLIENT_ID: "i", PUBLIC_URL: publicUrl }, minimalDrive, "GOOGLE_CLIENT_SECRET"]
  ])("rejects an integration of that provider: %j", async (environment, fields, missing) => {
    const service = await startService(environment as Readonly<Record<string, string>>) // the rows differ in their keys
    try {
      const integrations = integrationClient(service, await service.newTenant())
      const message = `is ${fields.provider}, which this server is not configured for: the operator must set ${missing}`
      assertValidationError(await integrations.create(fields), ["provider", "state", message])
    } finally {
      await service.stop()
    }
  })
})
