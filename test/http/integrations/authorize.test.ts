import { createHash } from "node:crypto"
import { assert, describe, it } from "vitest"
import { publicUrl } from "../../support/authorizationServer.ts"
import { authorizingIn, leastDrive, leastJira, startWithProviders } from "../../support/authorizing.ts"
import { assertInvalid, type Fault } from "../../support/failure.ts"
import { forAll } from "../../support/forAll.ts"
import { setStatus } from "../../support/integrationRows.ts"
import { integrationsIn, leastNats, leastWebhook } from "../../support/integrations.ts"
import { startService } from "../../support/service.ts"

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
  const at = forAll(startWithProviders)
  const ours = () => authorizingIn(at().service, at().server, at().tenant)

  it.each([leastJira, leastDrive])("starts as $provider with nobody having done so", async (fields) => {
    const made = await ours().made(fields)
    assert.deepInclude(made, { provider: fields.provider, status: "PENDING_AUTH", isAuthorized: false })
    assert.notProperty(made, "secret")
  })

  it("takes the settings its provider knows, up to their bounds", async () => {
    const config = { siteId: "s".repeat(100), jql: "q".repeat(500) }
    assert.deepStrictEqual((await ours().made({ ...leastJira, config })).config, config)
  })

  it.each<[object, ...Array<Fault>]>([
    [{ ...leastDrive, config: {} }, ["config.folderId", "required", "is required"]],
    [
      { ...leastJira, config: { jql: "q".repeat(501) } },
      ["config.jql", "maxLength", "must have at most 500 characters"]
    ],
    [{ ...leastJira, config: { siteId: "" } }, ["config.siteId", "minLength", "must have at least 1 character"]],
    [{ ...leastJira, config: { folderId: "f" } }, ["config.folderId", "unknown", "means nothing to JIRA"]],
    [
      { ...leastWebhook, config: { ...leastWebhook.config, jql: "q" } },
      ["config.jql", "unknown", "means nothing to WEBHOOK"]
    ]
  ])("is not made of %j", async (body, ...faults) => {
    assertInvalid(await ours().create(body), ...faults)
  })

  it("is authorized with Jira at an address that says all it must", async () => {
    const { id } = await ours().made(leastJira)
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
    const { id } = await ours().made(leastDrive)
    const asks = new URL(await ours().begun(id)).searchParams
    assert.sameMembers([...asks.keys()], [...common, "access_type", "prompt", "include_granted_scopes"])
    assert.strictEqual(asks.get("scope"), "https://www.googleapis.com/auth/drive.file")
    assert.strictEqual(asks.get("access_type"), "offline")
    assert.strictEqual(asks.get("prompt"), "consent")
    assert.strictEqual(asks.get("include_granted_scopes"), "true")
  })

  it("is remembered by the hash of its state, for ten minutes, with who began and where", async () => {
    const { id } = await ours().made(leastDrive)
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
    const { id } = await ours().made(leastDrive)
    assertInvalid(await ours().begin(id, origin), ["origin", "enum", "is not a trusted origin"])
  })

  it.each([leastWebhook, leastNats])("is none with $provider", async (fields) => {
    const { id } = await ours().made(fields)
    const fault = ["provider", "state", `is ${fields.provider}, which needs no authorization`] as const
    assertInvalid(await ours().begin(id), [...fault])
  })

  it("is authorized in every status but PAUSED", async () => {
    const { id } = await ours().made(leastDrive)
    for (const status of ["PENDING_AUTH", "ERROR", "ACTIVE"]) {
      await setStatus(at().pool, id, status)
      await ours().begun(id)
    }
    await setStatus(at().pool, id, "PAUSED")
    assertInvalid(await ours().begin(id), [
      "status",
      "state",
      "is PAUSED; only PENDING_AUTH or ERROR or ACTIVE can become ACTIVE"
    ])
  })

  it("does not go on before it is authorized", async () => {
    const { id } = await ours().made(leastDrive)
    await setStatus(at().pool, id, "ERROR")
    assertInvalid(await ours().move(id, "resume"), [
      "isAuthorized",
      "state",
      "is false; authorize the integration first"
    ])
  })

  it("is not authorized by who saw another version of it", async () => {
    const { id } = await ours().made(leastDrive)
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
    [{}, leastJira, "JIRA_CLIENT_ID, JIRA_CLIENT_SECRET, PUBLIC_URL"],
    [{}, leastDrive, "GOOGLE_CLIENT_ID, GOOGLE_CLIENT_SECRET, PUBLIC_URL"],
    [{ JIRA_CLIENT_ID: "i", JIRA_CLIENT_SECRET: "s" }, leastJira, "PUBLIC_URL"],
    [{ GOOGLE_CLIENT_ID: "i", PUBLIC_URL: publicUrl }, leastDrive, "GOOGLE_CLIENT_SECRET"]
  ])("no integration is made: %j", async (environment, fields, missing) => {
    const service = await startService(environment as Readonly<Record<string, string>>) // the rows differ in their keys
    try {
      const ours = integrationsIn(service, await service.newTenant())
      const message = `this server is not configured for ${fields.provider}: it lacks ${missing}`
      assertInvalid(await ours.create(fields), ["provider", "state", message])
    } finally {
      await service.stop()
    }
  })
})
