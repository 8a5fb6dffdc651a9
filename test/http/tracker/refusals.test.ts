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

const good = makeWebhookBody("updated")
const withIssue = (change: object) => ({ ...good, issue: { ...good.issue, ...change } })
const withFields = (change: object) => withIssue({ fields: { ...good.issue.fields, ...change } })
const without = <A extends object>(value: A, key: keyof A) =>
  Object.fromEntries(Object.entries(value).filter(([name]) => name !== key))

const required = (field: string): ExpectedError => [field, "required", "is required"]
const type = (field: string, what: string): ExpectedError => [field, "type", `must be ${what}`]
const storable = "must not contain NUL or unpaired surrogates"
const kinds = "must be one of jira:issue_created, jira:issue_updated, jira:issue_deleted"
const most = 9007199254740991

/** What is sent, and every fault of it. */
const broken: ReadonlyArray<readonly [what: string, body: unknown, ...faults: ReadonlyArray<ExpectedError>]> = [
  ["nothing in it", "", ["body", "required", "is required"]],
  ["no JSON", "{", ["body", "format", "is not valid JSON"]],
  ["a NUL in it", `{"timestamp":1,"a":"\u0000"}`, ["body", "format", "is not valid JSON"]],
  ["an array", [], type("body", "an object")],
  ["null", "null", type("body", "an object")],
  ["a string", `"text"`, type("body", "an object")],
  ["no timestamp", without(good, "timestamp"), required("timestamp")],
  ["a timestamp in words", { ...good, timestamp: "1781253604120" }, type("timestamp", "a number")],
  ["half a millisecond", { ...good, timestamp: 1.5 }, type("timestamp", "an integer")],
  ["no number", { ...good, timestamp: null }, type("timestamp", "a number")],
  ["a timestamp too large", { ...good, timestamp: most + 1 }, ["timestamp", "max", `must be at most ${most}`]],
  ["a timestamp too small", { ...good, timestamp: -most - 1 }, ["timestamp", "min", `must be at least -${most}`]],
  ["no event", without(good, "webhookEvent"), required("webhookEvent")],
  ["another event", { ...good, webhookEvent: "jira:issue_moved" }, ["webhookEvent", "enum", kinds]],
  ["an event of ours", { ...good, webhookEvent: "issue.created" }, ["webhookEvent", "enum", kinds]],
  ["an event in capitals", { ...good, webhookEvent: "JIRA:ISSUE_CREATED" }, ["webhookEvent", "enum", kinds]],
  ["a number for an event", { ...good, webhookEvent: 1 }, ["webhookEvent", "enum", kinds]],
  ["no numbers", without(good, "matchedWebhookIds"), required("matchedWebhookIds")],
  ["one number", { ...good, matchedWebhookIds: 1007 }, type("matchedWebhookIds", "an array")],
  ["numbers in words", { ...good, matchedWebhookIds: ["1"] }, type("matchedWebhookIds[0]", "a number")],
  ["a broken number", { ...good, matchedWebhookIds: [1, 2.5] }, type("matchedWebhookIds[1]", "an integer")],
  [
    "a number too large",
    { ...good, matchedWebhookIds: [1, 2, most + 1] },
    ["matchedWebhookIds[2]", "max", `must be at most ${most}`]
  ],
  [
    "a number too small",
    { ...good, matchedWebhookIds: [-most - 1] },
    ["matchedWebhookIds[0]", "min", `must be at least -${most}`]
  ],
  ["no issue", without(good, "issue"), required("issue")],
  ["an issue that is null", { ...good, issue: null }, type("issue", "an object")],
  ["an issue in words", { ...good, issue: "NORTH-318" }, type("issue", "an object")],
  ["an issue without an id", { ...good, issue: without(good.issue, "id") }, required("issue.id")],
  ["an issue with a number for its id", withIssue({ id: 24117 }), type("issue.id", "a string")],
  ["an issue with an empty id", withIssue({ id: "" }), ["issue.id", "minLength", "must have at least 1 character"]],
  ["an issue with a NUL in its id", withIssue({ id: "1\u0000" }), ["issue.id", "pattern", storable]],
  ["an issue without a key", { ...good, issue: without(good.issue, "key") }, required("issue.key")],
  ["an issue with half a character in its key", withIssue({ key: "\ud800" }), ["issue.key", "pattern", storable]],
  [
    "an issue with a key that is too long",
    withIssue({ key: "K".repeat(101) }),
    ["issue.key", "maxLength", "must have at most 100 characters"]
  ],
  ["an issue without fields", { ...good, issue: without(good.issue, "fields") }, required("issue.fields")],
  ["fields in a list", withIssue({ fields: [] }), type("issue.fields", "an object")],
  ["no project", withIssue({ fields: {} }), required("issue.fields.project")],
  ["a project that is null", withFields({ project: null }), type("issue.fields.project", "an object")],
  ["a project without a key", withFields({ project: {} }), required("issue.fields.project.key")],
  [
    "a project with a number for its key",
    withFields({ project: { key: 1 } }),
    type("issue.fields.project.key", "a string")
  ],
  [
    "nothing right",
    { timestamp: "now", webhookEvent: "x", matchedWebhookIds: [null], issue: { id: 1, key: 2, fields: 3 } },
    type("timestamp", "a number"),
    ["webhookEvent", "enum", kinds],
    type("matchedWebhookIds[0]", "a number"),
    type("issue.id", "a string"),
    type("issue.key", "a string"),
    type("issue.fields", "an object")
  ]
]

describe("a webhook is refused", () => {
  const at = useFixture(() => startServiceWithTenant(jiraSettings))
  let id: string
  let key: string
  beforeAll(async () => {
    const made = await tracker().made(at().tenant)
    id = made.id
    key = made.key
    await insertAuthorization(at().pool, id, 1007)
  })
  const tracker = () => jiraSender(at().service)
  const kept = async () => (await at().pool.query("select 1 from inbound_webhooks")).rows.length

  for (const [what, body, ...faults] of broken) {
    it(`with ${what}`, async () => {
      const before = await kept()
      assertValidationError(await tracker().send(key, body), ...faults)
      assert.strictEqual(await kept(), before)
    })
  }

  it("without an identifier, or with an empty one, and told of its body's faults in the same answer", async () => {
    const headers = { authorization: `Bearer ${await signJiraToken()}`, "content-type": "application/json" }
    const post = (body: unknown, more: Record<string, string> = {}) =>
      sendRaw(at().service.url, {
        method: "POST",
        path: `/api/v1/webhooks/${key}`,
        headers: { ...headers, ...more },
        body: JSON.stringify(body)
      })
    const name = "x-atlassian-webhook-identifier"
    assertValidationError(await post(good), required(name))
    assertValidationError(await post(good, { [name]: "" }), [name, "minLength", "must have at least 1 character"])
    assertValidationError(await post({ ...good, timestamp: null }), required(name), type("timestamp", "a number"))
  })

  it("in another type than JSON", async () => {
    const answer = await tracker().send(key, "a=b", {
      headers: { "content-type": "application/x-www-form-urlencoded" }
    })
    assert.strictEqual(answer.status, 415)
    assertAccepted(await tracker().send(key, good, { headers: { "content-type": "application/json; charset=utf-8" } }))
  })

  it("for the bearer before the key, the key before the body", async () => {
    const shape: ExpectedError = ["endpointKey", "pattern", "must be 43 characters of A-Z, a-z, 0-9, _ and -"]
    const unknown = "A".repeat(43)
    for (const odd of ["short", `${key}x`, key.slice(1), `${key.slice(1)}~`, `${key.slice(1)}%00`]) {
      assertFailure(await tracker().send(odd, "{", { as: "a.b.c" }), 401, unauthorizedText, odd)
      assertValidationError(await tracker().send(odd, "{"), shape)
    }
    assertFailure(await tracker().send(unknown, "{"), 404, notFoundText)
    assertFailure(await tracker().send(unknown, "{", { as: "a.b.c" }), 401, unauthorizedText)
  })

  describe("or taken for its bearer:", () => {
    const now = () => Math.floor(Date.now() / 1000)
    const day = 24 * 60 * 60
    const answered = async (token: string) => {
      const { status } = await tracker().send(key, good, { as: token })
      return status
    }

    it("the tracker's, with no claims at all or with times that hold", async () => {
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
        assert.strictEqual(await answered(await signJiraToken(claims)), 200, JSON.stringify(claims))
      }
    })

    it("no longer the tracker's when its time is over, has not come, or is too long", async () => {
      for (const claims of [
        { exp: now() - 70 },
        { nbf: now() + 70 },
        { iat: now() - day - 70 },
        { iat: now() - day - 70, exp: now() + 3600 },
        { iat: now() + 3600, exp: now() + 7200 }
      ]) {
        assert.strictEqual(await answered(await signJiraToken(claims)), 401, JSON.stringify(claims))
      }
      const soon = Object.assign({}, { exp: "soon" })
      assert.strictEqual(await answered(await signJiraToken(soon as never)), 401) // a claim no signer would make
      const odd = Object.assign({}, { iat: "now" })
      assert.strictEqual(await answered(await signJiraToken(odd as never)), 401) // likewise
    })

    it("not the tracker's when it is signed with something else, or not at all, or changed, or too long", async () => {
      const token = await signJiraToken()
      const [head, claims, signature] = token.split(".")
      assert.strictEqual(await answered(await signJiraToken({}, "another secret")), 401)
      assert.strictEqual(await answered(await signJiraToken({}, jiraClientSecret.repeat(4), "HS512")), 401)
      assert.strictEqual(await answered(await signJiraToken({}, jiraClientSecret.repeat(4), "HS384")), 401)
      assert.strictEqual(await answered(new UnsecuredJWT({}).encode()), 401)
      assert.strictEqual(await answered(`${head}.${claims}.`), 401)
      const forged = Buffer.from(JSON.stringify({ exp: now() + day })).toString("base64url")
      assert.strictEqual(await answered(`${head}.${forged}.${signature}`), 401)
      assert.strictEqual(await answered(await signJiraToken({ filler: "x".repeat(8192) })), 401)
      assert.strictEqual(await answered("nonsense.nonsense.nonsense"), 401)
      assertFailure(await at().service.api("POST", `/webhooks/${key}`, { body: good }), 401, unauthorizedText)
    })

    it("an administrator's of the tenant, and to anybody else the key is not there", async () => {
      for (const role of ["VIEWER", "MEMBER", "ADMIN"]) {
        await addMember(at().service, at().tenant, role, role)
      }
      for (const [as, status] of Object.entries({ VIEWER: 404, MEMBER: 404, stranger: 404, ADMIN: 200, owner: 200 })) {
        assert.strictEqual((await tracker().send(key, good, { as })).status, status, as)
      }
      const unmatched = makeWebhookBody("updated", { webhookIds: [] })
      assertAccepted(await tracker().send(key, unmatched, { as: "owner" }))
      const pending = await tracker().made(at().tenant)
      assertAccepted(await tracker().send(pending.key, good, { as: "owner" }), false)
      assertFailure(await tracker().send(key, "{", { as: "stranger" }), 404, notFoundText)
    })

    it("never one that has an issuer's published key for its secret", async () => {
      const signing = await makeSigningKey("RS256")
      const issuer = await startIssuer(signing.jwk)
      onTestFinished(issuer.stop)
      const audience = "https://contracting.example"
      const other = await startService({ ...jiraSettings, AUTH_ISSUER: issuer.url, AUTH_AUDIENCE: audience })
      onTestFinished(other.stop)
      const claims = { iss: issuer.url, aud: audience, sub: "owner", exp: now() + 600 }
      const owner = await signToken(signing, claims)
      const there = jiraSender(other)
      const made = await there.made(await other.newTenant(owner), owner)
      assertAccepted(await there.send(made.key, good, { as: owner }), false)

      const { keys } = JSON.parse(await (await fetch(issuer.jwksUrl)).text())
      assert.lengthOf(keys, 1)
      const pem = String(createPublicKey({ key: keys[0], format: "jwk" }).export({ type: "spki", format: "pem" }))
      for (const secret of [pem, pem.trimEnd(), JSON.stringify(keys[0])]) {
        const forged = await new SignJWT(claims)
          .setProtectedHeader({ alg: "HS256", kid: signing.kid, typ: "at+jwt" })
          .sign(new TextEncoder().encode(secret))
        assertFailure(await there.send(made.key, good, { as: forged }), 401, unauthorizedText, secret)
        assertFailure(await other.api("GET", "/tenants", { as: forged }), 401, unauthorizedText, secret)
      }
    })

    it("never another's: neither a stranger's key, nor the tracker's elsewhere", async () => {
      const own = await at().service.token("owner")
      const [, claims] = own.split(".")
      const payload = JSON.parse(Buffer.from(claims ?? "", "base64url").toString())
      const { privateKey } = await generateKeyPair("ES256")
      const foreign = await new SignJWT(payload).setProtectedHeader({ alg: "ES256" }).sign(privateKey)
      assert.strictEqual(await answered(foreign), 401)
      const elsewhere = await at().service.api("GET", `/integrations/${id}`, {
        as: await signJiraToken(payload),
        tenant: at().tenant
      })
      assert.strictEqual(elsewhere.status, 401)
    })
  })

  it("by a server that was told no secret", async () => {
    const { JIRA_CLIENT_SECRET: _, ...settings } = jiraSettings
    const same = { DATABASE_URL: at().service.database.url, DATA_DIR: at().service.dataDir }
    const other = await startService({ ...settings, ...same })
    onTestFinished(other.stop)
    const there = jiraSender(other)
    assertAccepted(await there.send(key, good, { as: "owner" }))
    for (const secret of [jiraClientSecret, "x", "undefined"]) {
      const as = await signJiraToken({}, secret)
      assertFailure(await there.send(key, good, { as }), 401, unauthorizedText, secret)
    }
    assertAccepted(await tracker().send(key, good))
  })
})
