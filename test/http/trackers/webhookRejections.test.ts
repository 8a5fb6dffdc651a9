import { createPublicKey } from "node:crypto"
import { generateKeyPair, SignJWT, UnsecuredJWT } from "jose"
import { assert, beforeAll, describe, it, onTestFinished } from "vitest"
import {
  assertFailure,
  assertValidationError,
  type ExpectedError,
  notFoundText,
  unauthorizedText
} from "../../support/assertions/failures.ts"
import { insertAuthorization } from "../../support/fixtures/issueRows.ts"
import { jiraClientSecret, makeWebhookBody, signJiraToken } from "../../support/fixtures/jiraWebhookBody.ts"
import { assertAccepted, jiraSender, jiraSettings } from "../../support/fixtures/jiraWebhooks.ts"
import { addMember } from "../../support/fixtures/members.ts"
import { makeSigningKey, signToken } from "../../support/fixtures/signingKeys.ts"
import { useFixture } from "../../support/fixtures/useFixture.ts"
import { sendRaw } from "../../support/servers/rawHttp.ts"
import { startService } from "../../support/servers/service.ts"
import { startServiceWithTenant } from "../../support/servers/serviceWithPool.ts"
import { startIssuer } from "../../support/servers/tokenIssuer.ts"

const validBody = makeWebhookBody("updated")
const withIssue = (change: object) => ({ ...validBody, issue: { ...validBody.issue, ...change } })
const withFields = (change: object) => withIssue({ fields: { ...validBody.issue.fields, ...change } })
const without = <A extends object>(value: A, key: keyof A) =>
  Object.fromEntries(Object.entries(value).filter(([name]) => name !== key))

const required = (field: string): ExpectedError => [field, "required", "is required"]
const type = (field: string, expected: string): ExpectedError => [field, "type", `must be ${expected}`]
const storable = "must not contain NUL or unpaired surrogates"
const kinds = "must be one of jira:issue_created, jira:issue_updated, jira:issue_deleted"
const maxInteger = 9007199254740991

/** An invalid body and all its errors. */
const invalidBodies: ReadonlyArray<
  readonly [name: string, body: unknown, ...expectedErrors: ReadonlyArray<ExpectedError>]
> = [
  ["an empty body", "", ["body", "required", "is required"]],
  ["invalid JSON", "{", ["body", "format", "is not valid JSON"]],
  ["a NUL character", `{"timestamp":1,"a":"\u0000"}`, ["body", "format", "is not valid JSON"]],
  ["an array as body", [], type("body", "an object")],
  ["null as body", "null", type("body", "an object")],
  ["a string as body", `"text"`, type("body", "an object")],
  ["no timestamp", without(validBody, "timestamp"), required("timestamp")],
  ["a string as timestamp", { ...validBody, timestamp: "1781253604120" }, type("timestamp", "a number")],
  ["a fractional timestamp", { ...validBody, timestamp: 1.5 }, type("timestamp", "an integer")],
  ["null as timestamp", { ...validBody, timestamp: null }, type("timestamp", "a number")],
  [
    "a timestamp that is too large",
    { ...validBody, timestamp: maxInteger + 1 },
    ["timestamp", "max", `must be at most ${maxInteger}`]
  ],
  [
    "a timestamp that is too small",
    { ...validBody, timestamp: -maxInteger - 1 },
    ["timestamp", "min", `must be at least -${maxInteger}`]
  ],
  ["no webhookEvent", without(validBody, "webhookEvent"), required("webhookEvent")],
  ["an unknown webhookEvent", { ...validBody, webhookEvent: "jira:issue_moved" }, ["webhookEvent", "enum", kinds]],
  [
    "an event type of this API as webhookEvent",
    { ...validBody, webhookEvent: "issue.created" },
    ["webhookEvent", "enum", kinds]
  ],
  ["a webhookEvent in capitals", { ...validBody, webhookEvent: "JIRA:ISSUE_CREATED" }, ["webhookEvent", "enum", kinds]],
  ["a number as webhookEvent", { ...validBody, webhookEvent: 1 }, ["webhookEvent", "enum", kinds]],
  ["no matchedWebhookIds", without(validBody, "matchedWebhookIds"), required("matchedWebhookIds")],
  ["a number as matchedWebhookIds", { ...validBody, matchedWebhookIds: 1007 }, type("matchedWebhookIds", "an array")],
  [
    "a string in matchedWebhookIds",
    { ...validBody, matchedWebhookIds: ["1"] },
    type("matchedWebhookIds[0]", "a number")
  ],
  [
    "a fraction in matchedWebhookIds",
    { ...validBody, matchedWebhookIds: [1, 2.5] },
    type("matchedWebhookIds[1]", "an integer")
  ],
  [
    "a matchedWebhookId that is too large",
    { ...validBody, matchedWebhookIds: [1, 2, maxInteger + 1] },
    ["matchedWebhookIds[2]", "max", `must be at most ${maxInteger}`]
  ],
  [
    "a matchedWebhookId that is too small",
    { ...validBody, matchedWebhookIds: [-maxInteger - 1] },
    ["matchedWebhookIds[0]", "min", `must be at least -${maxInteger}`]
  ],
  ["no issue", without(validBody, "issue"), required("issue")],
  ["null as issue", { ...validBody, issue: null }, type("issue", "an object")],
  ["a string as issue", { ...validBody, issue: "NORTH-318" }, type("issue", "an object")],
  ["an issue without an id", { ...validBody, issue: without(validBody.issue, "id") }, required("issue.id")],
  ["a number as issue id", withIssue({ id: 24117 }), type("issue.id", "a string")],
  ["an empty issue id", withIssue({ id: "" }), ["issue.id", "minLength", "must have at least 1 character"]],
  ["a NUL character in the issue id", withIssue({ id: "1\u0000" }), ["issue.id", "pattern", storable]],
  ["an issue without a key", { ...validBody, issue: without(validBody.issue, "key") }, required("issue.key")],
  ["an unpaired surrogate in the issue key", withIssue({ key: "\ud800" }), ["issue.key", "pattern", storable]],
  [
    "an issue key that is too long",
    withIssue({ key: "K".repeat(101) }),
    ["issue.key", "maxLength", "must have at most 100 characters"]
  ],
  ["an issue without fields", { ...validBody, issue: without(validBody.issue, "fields") }, required("issue.fields")],
  ["an array as issue fields", withIssue({ fields: [] }), type("issue.fields", "an object")],
  ["no project", withIssue({ fields: {} }), required("issue.fields.project")],
  ["null as project", withFields({ project: null }), type("issue.fields.project", "an object")],
  ["a project without a key", withFields({ project: {} }), required("issue.fields.project.key")],
  ["a number as project key", withFields({ project: { key: 1 } }), type("issue.fields.project.key", "a string")],
  [
    "an error in every field",
    { timestamp: "now", webhookEvent: "x", matchedWebhookIds: [null], issue: { id: 1, key: 2, fields: 3 } },
    type("timestamp", "a number"),
    ["webhookEvent", "enum", kinds],
    type("matchedWebhookIds[0]", "a number"),
    type("issue.id", "a string"),
    type("issue.key", "a string"),
    type("issue.fields", "an object")
  ]
]

describe("POST /webhooks/{endpointKey}", () => {
  const fixture = useFixture(() => startServiceWithTenant(jiraSettings))
  let id: string
  let key: string
  beforeAll(async () => {
    const integration = await jira().createIntegration(fixture().tenant)
    id = integration.id
    key = integration.key
    await insertAuthorization(fixture().pool, id, 1007)
  })
  const jira = () => jiraSender(fixture().service)
  const countWebhooks = async () => (await fixture().pool.query("select 1 from inbound_webhooks")).rows.length

  for (const [name, body, ...expectedErrors] of invalidBodies) {
    it(`rejects ${name}`, async () => {
      const before = await countWebhooks()
      assertValidationError(await jira().send(key, body), ...expectedErrors)
      assert.strictEqual(await countWebhooks(), before)
    })
  }

  it("rejects a missing or empty identifier header and reports errors of the body too", async () => {
    const headers = { authorization: `Bearer ${await signJiraToken()}`, "content-type": "application/json" }
    const post = (body: unknown, more: Record<string, string> = {}) =>
      sendRaw(fixture().service.url, {
        method: "POST",
        path: `/api/v1/webhooks/${key}`,
        headers: { ...headers, ...more },
        body: JSON.stringify(body)
      })
    const name = "x-atlassian-webhook-identifier"
    assertValidationError(await post(validBody), required(name))
    assertValidationError(await post(validBody, { [name]: "" }), [name, "minLength", "must have at least 1 character"])
    assertValidationError(await post({ ...validBody, timestamp: null }), required(name), type("timestamp", "a number"))
  })

  it("rejects a content type other than JSON", async () => {
    const response = await jira().send(key, "a=b", {
      headers: { "content-type": "application/x-www-form-urlencoded" }
    })
    assert.strictEqual(response.status, 415)
    assertAccepted(
      await jira().send(key, validBody, { headers: { "content-type": "application/json; charset=utf-8" } })
    )
  })

  it("checks the token before the endpoint key, and the key before the body", async () => {
    const invalidKey: ExpectedError = ["endpointKey", "pattern", "must be 43 characters of A-Z, a-z, 0-9, _ and -"]
    const unknown = "A".repeat(43)
    for (const malformed of ["short", `${key}x`, key.slice(1), `${key.slice(1)}~`, `${key.slice(1)}%00`]) {
      assertFailure(await jira().send(malformed, "{", { as: "a.b.c" }), 401, unauthorizedText, malformed)
      assertValidationError(await jira().send(malformed, "{"), invalidKey)
    }
    assertFailure(await jira().send(unknown, "{"), 404, notFoundText)
    assertFailure(await jira().send(unknown, "{", { as: "a.b.c" }), 401, unauthorizedText)
  })

  const now = () => Math.floor(Date.now() / 1000)
  const day = 24 * 60 * 60
  const sendWithToken = async (token: string) => {
    const { status } = await jira().send(key, validBody, { as: token })
    return status
  }

  it("accepts a token of Jira without claims or with valid times", async () => {
    for (const claims of [
      {},
      { iss: "anyone", aud: ["anything"], sub: "" },
      { exp: now() + 60 },
      { exp: now() - 50 },
      { nbf: now() + 50 },
      { iat: now() - 100, exp: now() + day },
      { iat: now() + 50 },
      { iat: now() - day + 10 }
    ]) {
      assert.strictEqual(await sendWithToken(await signJiraToken(claims)), 200, JSON.stringify(claims))
    }
  })

  it("rejects a token of Jira that is expired, not valid yet or valid for too long", async () => {
    for (const claims of [
      { exp: now() - 70 },
      { nbf: now() + 70 },
      { iat: now() - day - 70 },
      { iat: now() - day - 70, exp: now() + 3600 },
      { iat: now() + 3600, exp: now() + 7200 }
    ]) {
      assert.strictEqual(await sendWithToken(await signJiraToken(claims)), 401, JSON.stringify(claims))
    }
    for (const claims of [{ exp: "soon" }, { iat: "now" }]) {
      const token = await signJiraToken(claims as never) // its type forbids these claims
      assert.strictEqual(await sendWithToken(token), 401, JSON.stringify(claims))
    }
  })

  it("rejects a token with a wrong or missing signature, a changed payload or more than 8 KiB", async () => {
    const token = await signJiraToken()
    const [header, claims, signature] = token.split(".")
    assert.strictEqual(await sendWithToken(await signJiraToken({}, "another secret")), 401)
    assert.strictEqual(await sendWithToken(await signJiraToken({}, jiraClientSecret.repeat(4), "HS512")), 401)
    assert.strictEqual(await sendWithToken(await signJiraToken({}, jiraClientSecret.repeat(4), "HS384")), 401)
    assert.strictEqual(await sendWithToken(new UnsecuredJWT({}).encode()), 401)
    assert.strictEqual(await sendWithToken(`${header}.${claims}.`), 401)
    const forged = Buffer.from(JSON.stringify({ exp: now() + day })).toString("base64url")
    assert.strictEqual(await sendWithToken(`${header}.${forged}.${signature}`), 401)
    assert.strictEqual(await sendWithToken(await signJiraToken({ filler: "x".repeat(8192) })), 401)
    assert.strictEqual(await sendWithToken("nonsense.nonsense.nonsense"), 401)
    assertFailure(await fixture().service.api("POST", `/webhooks/${key}`, { body: validBody }), 401, unauthorizedText)
  })

  it("accepts a token of an ADMIN or OWNER and responds 404 to everybody else", async () => {
    for (const role of ["VIEWER", "MEMBER", "ADMIN"]) {
      await addMember(fixture().service, fixture().tenant, role, role)
    }
    for (const [as, status] of Object.entries({ VIEWER: 404, MEMBER: 404, stranger: 404, ADMIN: 200, owner: 200 })) {
      assert.strictEqual((await jira().send(key, validBody, { as })).status, status, as)
    }
    const unmatched = makeWebhookBody("updated", { webhookIds: [] })
    assertAccepted(await jira().send(key, unmatched, { as: "owner" }))
    const pending = await jira().createIntegration(fixture().tenant)
    assertAccepted(await jira().send(pending.key, validBody, { as: "owner" }), false)
    assertFailure(await jira().send(key, "{", { as: "stranger" }), 404, notFoundText)
  })

  it("rejects a token signed with the public key of the issuer as HMAC secret", async () => {
    const signing = await makeSigningKey("RS256")
    const issuer = await startIssuer(signing.jwk)
    onTestFinished(issuer.stop)
    const audience = "https://contracting.example"
    const other = await startService({ ...jiraSettings, AUTH_ISSUER: issuer.url, AUTH_AUDIENCE: audience })
    onTestFinished(other.stop)
    const claims = { iss: issuer.url, aud: audience, sub: "owner", exp: now() + 600 }
    const owner = await signToken(signing, claims)
    const otherSender = jiraSender(other)
    const integration = await otherSender.createIntegration(await other.newTenant(owner), owner)
    assertAccepted(await otherSender.send(integration.key, validBody, { as: owner }), false)

    const { keys } = JSON.parse(await (await fetch(issuer.jwksUrl)).text())
    assert.lengthOf(keys, 1)
    const pem = String(createPublicKey({ key: keys[0], format: "jwk" }).export({ type: "spki", format: "pem" }))
    for (const secret of [pem, pem.trimEnd(), JSON.stringify(keys[0])]) {
      const forged = await new SignJWT(claims)
        .setProtectedHeader({ alg: "HS256", kid: signing.kid, typ: "at+jwt" })
        .sign(new TextEncoder().encode(secret))
      assertFailure(await otherSender.send(integration.key, validBody, { as: forged }), 401, unauthorizedText, secret)
      assertFailure(await other.api("GET", "/tenants", { as: forged }), 401, unauthorizedText, secret)
    }
  })

  it("rejects a token of a foreign key, and other endpoints reject a token of Jira", async () => {
    const ownToken = await fixture().service.token("owner")
    const [, claims] = ownToken.split(".")
    const payload = JSON.parse(Buffer.from(claims ?? "", "base64url").toString())
    const { privateKey } = await generateKeyPair("ES256")
    const foreign = await new SignJWT(payload).setProtectedHeader({ alg: "ES256" }).sign(privateKey)
    assert.strictEqual(await sendWithToken(foreign), 401)
    const otherEndpoint = await fixture().service.api("GET", `/integrations/${id}`, {
      as: await signJiraToken(payload),
      tenant: fixture().tenant
    })
    assert.strictEqual(otherEndpoint.status, 401)
  })

  it("rejects every token of Jira when JIRA_CLIENT_SECRET is not set", async () => {
    const { JIRA_CLIENT_SECRET: _, ...settings } = jiraSettings
    const same = { DATABASE_URL: fixture().service.database.url, DATA_DIR: fixture().service.dataDir }
    const other = await startService({ ...settings, ...same })
    onTestFinished(other.stop)
    const otherSender = jiraSender(other)
    assertAccepted(await otherSender.send(key, validBody, { as: "owner" }))
    for (const secret of [jiraClientSecret, "x", "undefined"]) {
      const as = await signJiraToken({}, secret)
      assertFailure(await otherSender.send(key, validBody, { as }), 401, unauthorizedText, secret)
    }
    assertAccepted(await jira().send(key, validBody))
  })
})
