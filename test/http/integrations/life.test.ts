import { assert, describe, it } from "vitest"
import { assertValidationError, type ExpectedError } from "../../support/assertions/failures.ts"
import { eventsOf } from "../../support/fixtures/integrationRows.ts"
import { integrationClient, minimalNats, minimalWebhook } from "../../support/fixtures/integrations.ts"
import { readPages } from "../../support/fixtures/pages.ts"
import { useFixture } from "../../support/fixtures/useFixture.ts"
import { startServiceWithTenant } from "../../support/servers/serviceWithPool.ts"

const shownBy = (text: string) => text.slice('{"data":'.length, -1)

describe("integrations", () => {
  const at = useFixture(startServiceWithTenant)
  const ours = () => integrationClient(at().service, at().tenant)

  for (const [provider, body, config] of [
    ["WEBHOOK", minimalWebhook, minimalWebhook.config],
    ["NATS", minimalNats, {}]
  ] as const) {
    it(`with ${provider} start active, and are read as they were made`, async () => {
      const created = await ours().create(body)
      assert.strictEqual(created.status, 201, created.text)
      const { secret, ...made } = created.body.data
      assert.strictEqual(secret === undefined, provider === "NATS")
      assert.deepInclude(made, { provider, name: body.name, status: "ACTIVE", isAuthorized: true, config })
      assert.deepStrictEqual(made.subscriptions, [])
      assert.deepStrictEqual(Object.keys(made), [
        "id",
        "provider",
        "name",
        "status",
        "isAuthorized",
        "config",
        "subscriptions",
        "createdAt",
        "updatedAt"
      ])
      assert.match(made.id, /^int_[a-z0-9]{26}$/)
      assert.strictEqual(created.headers.get("location"), `/api/v1/integrations/${made.id}`)
      const read = await ours().get(made.id)
      assert.deepStrictEqual(read.body, { data: made })
      assert.strictEqual(read.headers.get("etag"), created.headers.get("etag"))
    })
  }

  it.each<[object, ...Array<ExpectedError>]>([
    [
      { ...minimalWebhook, provider: "JIRA", config: {} },
      [
        "provider",
        "state",
        "this server is not configured for JIRA: it lacks JIRA_CLIENT_ID, JIRA_CLIENT_SECRET, PUBLIC_URL"
      ]
    ],
    [
      { ...minimalWebhook, provider: "GOOGLE_DRIVE", config: {} },
      [
        "provider",
        "state",
        "this server is not configured for GOOGLE_DRIVE: it lacks GOOGLE_CLIENT_ID, GOOGLE_CLIENT_SECRET, PUBLIC_URL"
      ]
    ],
    [
      { ...minimalWebhook, provider: "EMAIL" },
      ["provider", "enum", "must be one of JIRA, GOOGLE_DRIVE, WEBHOOK, NATS"]
    ],
    [{ provider: "WEBHOOK", name: "Hook" }, ["config.url", "required", "is required"]],
    [{ ...minimalWebhook, config: { url: "" } }, ["config.url", "minLength", "must have at least 1 character"]],
    [
      { ...minimalWebhook, config: { url: `http://127.0.0.1:9/${"a".repeat(1982)}` } },
      ["config.url", "maxLength", "must have at most 2000 characters"]
    ],
    [{ ...minimalWebhook, config: { url: 1 } }, ["config.url", "type", "must be a string"]],
    [
      { ...minimalWebhook, config: { ...minimalWebhook.config, colour: "red" } },
      ["config.colour", "unknown", "is not a known property"]
    ],
    [
      { ...minimalWebhook, config: { folderId: "f" } },
      ["config.url", "required", "is required"],
      ["config.folderId", "unknown", "means nothing to WEBHOOK"]
    ],
    [{ ...minimalNats, config: minimalWebhook.config }, ["config.url", "unknown", "means nothing to NATS"]],
    [{ ...minimalNats, name: "" }, ["name", "minLength", "must have at least 1 character"]],
    [{ ...minimalNats, name: "n".repeat(201) }, ["name", "maxLength", "must have at most 200 characters"]],
    [{ ...minimalNats, status: "PAUSED" }, ["status", "unknown", "is not a known property"]]
  ])("%j cannot be made", async (body, ...faults) => {
    assertValidationError(await ours().create(body), ...faults)
  })

  it("go nowhere but to an https address", async () => {
    const refused = async (url: string) => {
      const { body, status } = await ours().create({ ...minimalWebhook, config: { url } })
      assert.strictEqual(status, 400, url)
      assert.deepInclude(body.details[0], { field: "config.url", constraint: "format" })
      const { id } = await ours().made()
      const patched = await ours().patch(id, { config: { url } })
      assert.deepStrictEqual([patched.status, patched.body.details], [400, body.details])
      assert.deepStrictEqual((await ours().get(id)).body.data.config, minimalWebhook.config)
    }
    for (const url of ["nonsense", "http://example.com/", "ftp://example.com/"]) await refused(url)
  })

  it("change their name and settings, and nothing else by a PATCH", async () => {
    const { id, secret: _, ...made } = await ours().made()
    const config = { url: "http://127.0.0.1:9/other" }
    const { body, status } = await ours().patch(id, { name: "Renamed", config })
    assert.strictEqual(status, 200)
    assert.deepStrictEqual(body.data, { id, ...made, name: "Renamed", config, updatedAt: body.data.updatedAt })
    for (const fields of [{ provider: "NATS" }, { status: "PAUSED" }, { subscriptions: [] }, { secret: "whsec_" }]) {
      const [field = ""] = Object.keys(fields)
      assertValidationError(await ours().patch(id, fields), [field, "unknown", "is not a known property"])
    }
    assertValidationError(await ours().patch(id, { config: {} }), ["config.url", "required", "is required"])
    assertValidationError(await ours().patch(id, { config: null }), ["config", "type", "must be an object"])
    const nats = await ours().made(minimalNats)
    assertValidationError(await ours().patch(nats.id, { config }), ["config.url", "unknown", "means nothing to NATS"])
  })

  it("are changed only in the version a caller names", async () => {
    const { id } = await ours().made()
    const { headers } = await ours().get(id)
    const known = { "if-match": headers.get("etag") ?? "" }
    const stale = { "if-match": '"other"' }
    for (const answer of [
      await ours().patch(id, { name: "N" }, stale),
      await ours().move(id, "pause", stale),
      await ours().move(id, "ping", stale),
      await ours().rotate(id, {}, stale),
      await ours().remove(id, stale)
    ]) {
      assert.strictEqual(answer.status, 412)
    }
    assert.strictEqual((await ours().move(id, "pause", known)).status, 200)
    assert.strictEqual((await ours().move(id, "resume", known)).status, 412)
  })

  it("are listed in pages", async () => {
    const own = await at().service.newTenant()
    const made: Array<string> = []
    for (let n = 0; n < 5; n++) made.push((await integrationClient(at().service, own).made(minimalNats)).id)
    const pages = await readPages(at().service, "/integrations?limit=2", { as: "owner", tenant: own })
    assert.deepStrictEqual(
      pages.map((page) => page.map(({ id }) => id)),
      [made.slice(0, 2), made.slice(2, 4), made.slice(4)]
    )
  })

  it("record what happens to them as they are shown", async () => {
    const { id, secret: _, ...made } = await ours().made()
    const shown = [JSON.stringify({ id, ...made })]
    const step = async (answer: Promise<{ readonly text: string; readonly status: number }>) => {
      const { status, text } = await answer
      assert.strictEqual(status, 200, text)
      shown.push(shownBy(text))
    }
    await step(ours().patch(id, { name: "Other" }))
    await step(ours().move(id, "pause"))
    await step(ours().move(id, "resume"))
    shown.push(shown.at(-1) ?? "")
    const ping = await ours().move(id, "ping")
    shown.push(shown.at(-1) ?? "")
    assert.strictEqual((await ours().remove(id)).status, 204)
    const events = await eventsOf(at().pool, id)
    assert.deepStrictEqual(
      events.map(({ sequence, type }) => [sequence, type]),
      ["created", "updated", "paused", "resumed", "ping", "deleted"].map((action, n) => [
        n + 1,
        `integration.${action}`
      ])
    )
    assert.deepStrictEqual(
      events.map(({ data }) => data),
      shown
    )
    assert.strictEqual(ping.body.data.id, events[4]?.id)
  })

  it("go with what is secret of them and with their subscriptions", async () => {
    const { id } = await ours().made()
    await ours().madeSubscription(id)
    assert.strictEqual((await ours().remove(id)).status, 204)
    assert.strictEqual((await ours().get(id)).status, 404)
    for (const table of ["subscriptions", "integration_secrets"]) {
      const { rows } = await at().pool.query(`select 1 from ${table} where integration_id = $1`, [id])
      assert.lengthOf(rows, 0, table)
    }
  })
})
