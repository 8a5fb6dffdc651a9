import { assert, describe, it } from "vitest"
import { assertValidationError, type ExpectedError } from "../../support/assertions/failures.ts"
import { eventsOf } from "../../support/fixtures/integrationRows.ts"
import { integrationClient, minimalNats, minimalWebhook } from "../../support/fixtures/integrations.ts"
import { readPages } from "../../support/fixtures/pages.ts"
import { useFixture } from "../../support/fixtures/useFixture.ts"
import { startServiceWithTenant } from "../../support/servers/serviceWithPool.ts"

const dataTextOf = (text: string) => text.slice('{"data":'.length, -1)

describe("Integrations", () => {
  const fixture = useFixture(startServiceWithTenant)
  const integrations = () => integrationClient(fixture().service, fixture().tenant)

  for (const [provider, body, config] of [
    ["WEBHOOK", minimalWebhook, minimalWebhook.config],
    ["NATS", minimalNats, {}]
  ] as const) {
    it(`of ${provider} are created ACTIVE and read back unchanged`, async () => {
      const created = await integrations().create(body)
      assert.strictEqual(created.status, 201, created.text)
      const { secret, ...integration } = created.body.data
      assert.strictEqual(secret === undefined, provider === "NATS")
      assert.deepInclude(integration, { provider, name: body.name, status: "ACTIVE", isAuthorized: true, config })
      assert.deepStrictEqual(integration.subscriptions, [])
      assert.deepStrictEqual(Object.keys(integration), [
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
      assert.match(integration.id, /^int_[a-z0-9]{26}$/)
      assert.strictEqual(created.headers.get("location"), `/api/v1/integrations/${integration.id}`)
      const read = await integrations().get(integration.id)
      assert.deepStrictEqual(read.body, { data: integration })
      assert.strictEqual(read.headers.get("etag"), created.headers.get("etag"))
    })
  }

  it.each<[object, ...Array<ExpectedError>]>([
    [
      { ...minimalWebhook, provider: "JIRA", config: {} },
      [
        "provider",
        "state",
        "is JIRA, which this server is not configured for: the operator must set JIRA_CLIENT_ID, JIRA_CLIENT_SECRET, PUBLIC_URL"
      ]
    ],
    [
      { ...minimalWebhook, provider: "GOOGLE_DRIVE", config: {} },
      [
        "provider",
        "state",
        "is GOOGLE_DRIVE, which this server is not configured for: the operator must set GOOGLE_CLIENT_ID, GOOGLE_CLIENT_SECRET, PUBLIC_URL"
      ]
    ],
    [
      { ...minimalWebhook, provider: "FAX" },
      ["provider", "enum", "must be one of JIRA, GOOGLE_DRIVE, WEBHOOK, NATS, EMAIL"]
    ],
    [
      { provider: "EMAIL", name: "Mail" },
      [
        "provider",
        "state",
        "is EMAIL, which this server is not configured for: the operator must set SMTP_URL, SMTP_FROM"
      ]
    ],
    [
      { provider: "EMAIL", name: "Mail", config: { host: "127.0.0.1", texts: { de: { subject: "{name}" } } } },
      ["config.port", "required", "is required"],
      ["config.security", "required", "is required"],
      ["config.from", "required", "is required"],
      [
        "config.texts.de.subject",
        "format",
        "must only contain the placeholders {invoiceNumber}, {total}, {dueDate}, {client}, {link}, but contains {name}"
      ]
    ],
    [{ ...minimalWebhook, password: "secret" }, ["password", "unknown", "is not supported for WEBHOOK"]],
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
      ["config.folderId", "unknown", "is not supported for WEBHOOK"]
    ],
    [{ ...minimalNats, config: minimalWebhook.config }, ["config.url", "unknown", "is not supported for NATS"]],
    [{ ...minimalNats, name: "" }, ["name", "minLength", "must have at least 1 character"]],
    [{ ...minimalNats, name: "n".repeat(201) }, ["name", "maxLength", "must have at most 200 characters"]],
    [{ ...minimalNats, status: "PAUSED" }, ["status", "unknown", "is not a known property"]]
  ])("cannot be created from %j", async (body, ...expectedErrors) => {
    assertValidationError(await integrations().create(body), ...expectedErrors)
  })

  it("cannot send to a URL that is not https", async () => {
    const assertRejected = async (url: string) => {
      const { body, status } = await integrations().create({ ...minimalWebhook, config: { url } })
      assert.strictEqual(status, 400, url)
      assert.deepInclude(body.details[0], { field: "config.url", constraint: "format" })
      const { id } = await integrations().mustCreate()
      const patched = await integrations().patch(id, { config: { url } })
      assert.deepStrictEqual([patched.status, patched.body.details], [400, body.details])
      assert.deepStrictEqual((await integrations().get(id)).body.data.config, minimalWebhook.config)
    }
    for (const url of ["nonsense", "http://example.com/", "ftp://example.com/"]) await assertRejected(url)
  })

  it("change only name and config by PATCH", async () => {
    const { id, secret: _, ...integration } = await integrations().mustCreate()
    const config = { url: "http://127.0.0.1:9/other" }
    const { body, status } = await integrations().patch(id, { name: "Renamed", config })
    assert.strictEqual(status, 200)
    assert.deepStrictEqual(body.data, { id, ...integration, name: "Renamed", config, updatedAt: body.data.updatedAt })
    for (const fields of [{ provider: "NATS" }, { status: "PAUSED" }, { subscriptions: [] }, { secret: "whsec_" }]) {
      const [field = ""] = Object.keys(fields)
      assertValidationError(await integrations().patch(id, fields), [field, "unknown", "is not a known property"])
    }
    assertValidationError(await integrations().patch(id, { config: {} }), ["config.url", "required", "is required"])
    assertValidationError(await integrations().patch(id, { config: null }), ["config", "type", "must be an object"])
    const nats = await integrations().mustCreate(minimalNats)
    assertValidationError(await integrations().patch(nats.id, { config }), [
      "config.url",
      "unknown",
      "is not supported for NATS"
    ])
  })

  it("are changed only when If-Match names the current version", async () => {
    const { id } = await integrations().mustCreate()
    const { headers } = await integrations().get(id)
    const current = { "if-match": headers.get("etag") ?? "" }
    const stale = { "if-match": '"other"' }
    for (const response of [
      await integrations().patch(id, { name: "N" }, stale),
      await integrations().transition(id, "pause", stale),
      await integrations().transition(id, "ping", stale),
      await integrations().rotate(id, {}, stale),
      await integrations().remove(id, stale)
    ]) {
      assert.strictEqual(response.status, 412)
    }
    assert.strictEqual((await integrations().transition(id, "pause", current)).status, 200)
    assert.strictEqual((await integrations().transition(id, "resume", current)).status, 412)
  })

  it("are paginated", async () => {
    const tenant = await fixture().service.newTenant()
    const integration: Array<string> = []
    for (let n = 0; n < 5; n++)
      integration.push((await integrationClient(fixture().service, tenant).mustCreate(minimalNats)).id)
    const pages = await readPages(fixture().service, "/integrations?limit=2", { as: "owner", tenant })
    assert.deepStrictEqual(
      pages.map((page) => page.map(({ id }) => id)),
      [integration.slice(0, 2), integration.slice(2, 4), integration.slice(4)]
    )
  })

  it("record each change as an event with the data of the response", async () => {
    const { id, secret: _, ...integration } = await integrations().mustCreate()
    const snapshots = [JSON.stringify({ id, ...integration })]
    const recordStep = async (response: Promise<{ readonly text: string; readonly status: number }>) => {
      const { status, text } = await response
      assert.strictEqual(status, 200, text)
      snapshots.push(dataTextOf(text))
    }
    await recordStep(integrations().patch(id, { name: "Other" }))
    await recordStep(integrations().transition(id, "pause"))
    await recordStep(integrations().transition(id, "resume"))
    snapshots.push(snapshots.at(-1) ?? "")
    const ping = await integrations().transition(id, "ping")
    snapshots.push(snapshots.at(-1) ?? "")
    assert.strictEqual((await integrations().remove(id)).status, 204)
    const events = await eventsOf(fixture().pool, id)
    assert.deepStrictEqual(
      events.map(({ sequence, type }) => [sequence, type]),
      ["created", "updated", "paused", "resumed", "ping", "deleted"].map((action, n) => [
        n + 1,
        `integration.${action}`
      ])
    )
    assert.deepStrictEqual(
      events.map(({ data }) => data),
      snapshots
    )
    assert.strictEqual(ping.body.data.id, events[4]?.id)
  })

  it("delete their secrets and subscriptions with them", async () => {
    const { id } = await integrations().mustCreate()
    await integrations().mustSubscribe(id)
    assert.strictEqual((await integrations().remove(id)).status, 204)
    assert.strictEqual((await integrations().get(id)).status, 404)
    for (const table of ["subscriptions", "integration_secrets"]) {
      const { rows } = await fixture().pool.query(`select 1 from ${table} where integration_id = $1`, [id])
      assert.lengthOf(rows, 0, table)
    }
  })
})
