import type pg from "pg"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { makeEventCheck } from "../../support/assertions/eventSchemas.ts"
import { assertValidationError } from "../../support/assertions/failures.ts"
import { eventsOf } from "../../support/fixtures/integrationRows.ts"
import { invoiceClient } from "../../support/fixtures/invoices.ts"
import { insertAuthorization } from "../../support/fixtures/issueRows.ts"
import { type IssueFields, makeWebhookBody, type WebhookKind } from "../../support/fixtures/jiraWebhookBody.ts"
import { assertAccepted, jiraSender, jiraSettings } from "../../support/fixtures/jiraWebhooks.ts"
import { openPool } from "../../support/servers/database.ts"
import { type Service, startService } from "../../support/servers/service.ts"
import { eventually, type RunningWorker, startWorker } from "../../support/servers/worker.ts"

interface IssueBody {
  readonly id: string
  readonly integration: string
  readonly externalId: string
  readonly projectKey: string
  readonly issueKey: string
  readonly title?: string
  readonly state?: string
  readonly isDeleted: boolean
}

describe("Jira intake", () => {
  let service: Service
  let pool: pg.Pool
  let tenant: string
  let worker: RunningWorker
  beforeAll(async () => {
    service = await startService(jiraSettings)
    pool = openPool(service.database.url)
    tenant = await service.newTenant()
    worker = await startWorker(service, "intake")
  })
  afterAll(async () => {
    await worker.stop()
    await pool.end()
    await service.stop()
  })

  const call = (method: string, path: string, body?: unknown) =>
    service.api(method, path, { as: "owner", tenant, ...(body === undefined ? {} : { body }) })
  const read = async (path: string) => {
    const { body, status, text } = await call("GET", path)
    assert.strictEqual(status, 200, text)
    return body.data
  }

  /** A Jira integration; `sendAndWait` sends a webhook and waits until it is processed. */
  const createIntegration = async () => {
    const { id, key } = await jiraSender(service).createIntegration(tenant)
    await insertAuthorization(pool, id, 1007)
    const listInbound = async () =>
      (await read(`/integrations/${id}/inbound?limit=200`)) as ReadonlyArray<{ id: string; status: string }>
    const waitUntilProcessed = () =>
      eventually(
        async () => (await listInbound()).every(({ status }) => status !== "RECEIVED"),
        "every webhook is processed"
      )
    const send = async (kind: WebhookKind, fields: IssueFields = {}) =>
      assertAccepted(await jiraSender(service).send(key, makeWebhookBody(kind, fields)))
    const sendAndWait = async (kind: WebhookKind, fields: IssueFields = {}) => {
      await send(kind, fields)
      await waitUntilProcessed()
    }
    const listIssues = async (query = ""): Promise<ReadonlyArray<IssueBody>> =>
      read(`/integrations/${id}/issues${query}`)
    return { id, key, send, sendAndWait, waitUntilProcessed, listInbound, listIssues }
  }

  /** Lets the next poll find the webhooks of an integration, which otherwise waits for a few seconds. */
  const makeOverdue = (integration: string) =>
    pool.query(
      "update inbound_webhooks set received_at = '2020-01-01', processed_at = null where integration_id = $1",
      [integration]
    )

  const statuses = (rows: ReadonlyArray<{ readonly status: string }>) => rows.map(({ status }) => status)

  it("stores issues as Jira reports them, and emits an event for each change with the issue of the API", async () => {
    const { id, listIssues, sendAndWait } = await createIntegration()
    await sendAndWait("created", { timestamp: 1000 })
    await sendAndWait("updated", { timestamp: 2000, state: "Done" })
    const [issue] = await listIssues()
    assert.deepInclude(issue, { integration: id, externalId: "24117", issueKey: "NORTH-318", projectKey: "NORTH" })
    assert.deepInclude(issue, { title: "Pump", state: "Done", isDeleted: false })
    const response = await call("GET", `/integrations/${id}/issues/${issue?.id}`)
    await sendAndWait("deleted", { timestamp: 3000, state: "Done" })
    const events = await eventsOf(pool, issue?.id ?? "")
    assert.deepStrictEqual(
      events.map(({ sequence, type }) => [sequence, type]),
      [
        [1, "issue.created"],
        [2, "issue.updated"],
        [3, "issue.deleted"]
      ]
    )
    assert.strictEqual(response.text, `{"data":${events[1]?.data}}`)
    const check = makeEventCheck(service.document)
    for (const { data, ...event } of events) {
      check({
        id: event.id,
        type: event.type,
        tenant,
        sequence: event.sequence,
        timestamp: "2026-01-01T00:00:00Z",
        data: JSON.parse(data)
      } as never) // the check validates every field
    }
  })

  it("filters issues by project, key, state and deletion in GET /integrations/{integrationId}/issues", async () => {
    const { listIssues, waitUntilProcessed, send } = await createIntegration()
    await send("created", { id: "1", key: "A-1", state: "Open" })
    await send("created", { id: "2", key: "A-2", state: "Done" })
    await send("created", { id: "3", key: "B-3", state: "Open" })
    await send("deleted", { id: "3", key: "B-3", state: "Open", timestamp: 1_781_253_604_121 })
    await waitUntilProcessed()
    const keys = async (query: string) => (await listIssues(query)).map(({ issueKey }) => issueKey).sort()
    assert.deepStrictEqual(await keys("?projectKey=A"), ["A-1", "A-2"])
    assert.deepStrictEqual(await keys("?key=A-2"), ["A-2"])
    assert.deepStrictEqual(await keys("?state=Open"), ["A-1", "B-3"])
    assert.deepStrictEqual(await keys("?deleted=true"), ["B-3"])
    assert.deepStrictEqual(await keys("?deleted=false&state=Open"), ["A-1"])
  })

  it("ignores a webhook older than the issue, and every webhook after the deletion of the issue", async () => {
    const { listInbound, listIssues, sendAndWait } = await createIntegration()
    await sendAndWait("updated", { timestamp: 2000, title: "Newer" })
    await sendAndWait("created", { timestamp: 1000, title: "Older" })
    await sendAndWait("updated", { timestamp: 1999, title: "Older" })
    assert.deepInclude((await listIssues())[0], { title: "Newer" })
    await sendAndWait("deleted", { timestamp: 1500 })
    await sendAndWait("updated", { timestamp: 9000, title: "Back" })
    await sendAndWait("created", { timestamp: 9001, title: "Back" })
    await sendAndWait("deleted", { timestamp: 9002 })
    assert.deepStrictEqual(statuses(await listInbound()), ["DONE", "STALE", "STALE", "DONE", "STALE", "STALE", "STALE"])
    const [issue] = await listIssues()
    assert.isTrue(issue?.isDeleted)
    assert.deepStrictEqual(
      (await eventsOf(pool, issue?.id ?? "")).map(({ type }) => type),
      ["issue.updated", "issue.deleted"]
    )
  })

  it("waits while the integration is paused, then processes webhooks in the order of their timestamps", async () => {
    const { id, listInbound, listIssues, send, waitUntilProcessed } = await createIntegration()
    const other = await createIntegration()
    await other.sendAndWait("created")
    await call("POST", `/integrations/${id}/pause`)
    for (const n of [3, 1, 5, 2, 4]) await send(n === 1 ? "created" : "updated", { timestamp: n, title: `Title ${n}` })
    await makeOverdue(id)
    // No message announces the reset webhook, so its processing shows that the worker has looked for overdue webhooks.
    await makeOverdue(other.id)
    await pool.query("update inbound_webhooks set status = 'RECEIVED' where integration_id = $1", [other.id])
    await other.waitUntilProcessed()
    assert.deepStrictEqual(new Set(statuses(await listInbound())), new Set(["RECEIVED"]))
    assert.isEmpty(await listIssues())
    await call("POST", `/integrations/${id}/resume`)
    await waitUntilProcessed()
    assert.deepStrictEqual(new Set(statuses(await listInbound())), new Set(["DONE"]))
    const [issue] = await listIssues()
    const events = await eventsOf(pool, issue?.id ?? "")
    assert.deepStrictEqual(
      events.map(({ data }) => JSON.parse(data).title),
      [1, 2, 3, 4, 5].map((n) => `Title ${n}`)
    )
  })

  it("marks a webhook FAILED after its last attempt, processes the others, and replays it", {
    timeout: 120_000
  }, async () => {
    const { id, listInbound, listIssues, send, waitUntilProcessed, sendAndWait } = await createIntegration()
    await call("POST", `/integrations/${id}/pause`)
    await send("created", { timestamp: 1 })
    const [failing] = await listInbound()
    const { body } = await read(`/integrations/${id}/inbound/${failing?.id}`)
    await pool.query("update inbound_webhooks set body = 'no JSON' where id = $1", [failing?.id])
    await send("updated", { timestamp: 2, title: "Fine" })
    await makeOverdue(id)
    await call("POST", `/integrations/${id}/resume`)
    await eventually(async () => (await listIssues()).length === 1, "the other webhook is processed")
    await pool.query(
      "update inbound_webhooks set attempts = 4, received_at = '2020-01-01', processed_at = null where id = $1",
      [failing?.id]
    )
    await eventually(async () => (await listInbound())[0]?.status === "FAILED", "the webhook is FAILED", 60)
    const failed = await read(`/integrations/${id}/inbound/${failing?.id}`)
    assert.isString(failed.error)
    await sendAndWait("updated", { timestamp: 3, title: "Finer" })
    assert.deepInclude((await listIssues())[0], { title: "Finer" })

    await pool.query("update inbound_webhooks set body = $2 where id = $1", [failing?.id, body])
    const replayed = await call("POST", `/integrations/${id}/inbound/${failing?.id}/replay`)
    assert.strictEqual(replayed.status, 200, replayed.text)
    assert.deepInclude(replayed.body.data, { status: "RECEIVED", attempts: 0 })
    await waitUntilProcessed()
    assert.deepStrictEqual(statuses(await listInbound()), ["STALE", "DONE", "DONE"], "the newer webhooks stay DONE")
  })

  it("replays a processed webhook without a second effect", async () => {
    const { id, listInbound, listIssues, waitUntilProcessed, sendAndWait } = await createIntegration()
    await sendAndWait("created", { timestamp: 1 })
    await sendAndWait("updated", { timestamp: 2, title: "New" })
    for (const { id: webhook } of await listInbound())
      await call("POST", `/integrations/${id}/inbound/${webhook}/replay`)
    await waitUntilProcessed()
    assert.deepStrictEqual(statuses(await listInbound()), ["STALE", "DONE"])
    assert.lengthOf(await eventsOf(pool, (await listIssues())[0]?.id ?? ""), 2)
  })

  it("filters GET /integrations/{integrationId}/inbound by status and time, and keeps the exact body", async () => {
    const { id, listInbound, key, sendAndWait } = await createIntegration()
    await sendAndWait("created", { timestamp: 1 })
    const text = ` ${JSON.stringify(makeWebhookBody("updated", { timestamp: 0 }))} `
    assertAccepted(await jiraSender(service).send(key, text, { identifier: "second" }))
    await eventually(async () => statuses(await listInbound())[1] === "STALE", "the second webhook is processed")
    const [first, second] = await listInbound()
    assert.notProperty(first, "body")
    const findIds = async (query: string) =>
      ((await read(`/integrations/${id}/inbound?${query}`)) as ReadonlyArray<{ id: string }>).map(({ id }) => id)
    assert.deepStrictEqual(await findIds("status=STALE"), [second?.id])
    assert.deepStrictEqual(await findIds("sort=-receivedAt"), [second?.id, first?.id])
    assert.deepStrictEqual(await findIds("since=2100-01-01T00:00:00Z"), [])
    assert.deepStrictEqual(await findIds("until=2100-01-01T00:00:00Z&limit=1"), [first?.id])
    const full = await read(`/integrations/${id}/inbound/${second?.id}`)
    assert.deepInclude(full, { body: text, identifier: "second", attempts: 1, happenedAt: 0, issueId: "24117" })
  })

  describe("with POST /invoices/{invoiceId}/billables/from-issues", () => {
    const fromIssues = (invoice: string, body: object) =>
      call("POST", `/invoices/${invoice}/billables/from-issues`, { amountMinor: 12_000, ...body })

    /** Three issues, the last of which is deleted. */
    const createIssues = async () => {
      const jira = await createIntegration()
      const project = `P${jira.id.slice(-6).toUpperCase()}`
      await jira.send("created", { id: "1", key: `${project}-1`, title: "x".repeat(300), timestamp: 1 })
      await jira.send("created", { id: "2", key: `${project}-2`, title: "Two", state: "Done", timestamp: 1 })
      await jira.send("created", { id: "3", key: `${project}-3`, timestamp: 1 })
      await jira.send("deleted", { id: "3", key: `${project}-3`, timestamp: 2 })
      await jira.waitUntilProcessed()
      return {
        ...jira,
        project,
        integrationId: jira.id,
        invoice: (await invoiceClient(service, tenant).draft()).id
      }
    }

    it("creates lines by issue key with a reference to each issue", async () => {
      const { integrationId, invoice, listIssues, project } = await createIssues()
      const issueKeys = [`${project}-2`, `${project}-1`]
      const response = await fromIssues(invoice, { integrationId, issueKeys, quantity: 1.5 })
      assert.strictEqual(response.status, 201, response.text)
      assert.strictEqual(response.headers.get("location"), `/api/v1/billables?invoiceId=${invoice}`)
      const [two, one] = response.body.data
      const known = (await listIssues(`?key=${project}-2`))[0]
      assert.deepInclude(two, {
        invoice,
        name: `${project}-2: Two`,
        quantity: 1.5,
        amountMinor: 12_000,
        lineTotalMinor: 18_000,
        referenceType: "jira",
        referenceId: `${project}-2`,
        metadata: { issueKey: `${project}-2`, issueId: known?.id, title: "Two", state: "Done" }
      })
      assert.strictEqual(one.name, `${project}-1: ${"x".repeat(300)}`.slice(0, 255))
      assert.strictEqual((await read(`/invoices/${invoice}`)).totalMinor, 36_000)
    })

    it("rejects unknown, deleted, repeated and billed issues with their index", async () => {
      const { integrationId, invoice, project } = await createIssues()
      const key = (n: number) => `${project}-${n}`
      const missing = (n: number) => `does not exist: the integration has no issue "${key(n)}"`
      assertValidationError(
        await fromIssues(invoice, { integrationId, issueKeys: [key(1), key(3), key(9)] }),
        ["issueKeys[1]", "exists", missing(3)],
        ["issueKeys[2]", "exists", missing(9)]
      )
      assertValidationError(await fromIssues(invoice, { integrationId, issueKeys: [key(1), key(1)] }), [
        "issueKeys[1]",
        "unique",
        "is used by an earlier line"
      ])
      assert.strictEqual((await fromIssues(invoice, { integrationId, issueKeys: [key(1)], name: "Work" })).status, 201)
      const second = (await invoiceClient(service, tenant).draft()).id
      assertValidationError(await fromIssues(second, { integrationId, issueKeys: [key(2), key(1)] }), [
        "issueKeys[1]",
        "unique",
        `is already billed on invoice ${invoice}`
      ])
      assert.isEmpty(await read(`/billables?invoiceId=${second}`))
    })

    it("excludes billed issues from a filter, and rejects a filter without a match", async () => {
      const { integrationId, invoice, project } = await createIssues()
      const filter = { projectKey: project }
      const first = await fromIssues(invoice, { integrationId, filter: { ...filter, state: "Done" } })
      assert.deepStrictEqual(
        first.body.data.map(({ referenceId }: { referenceId: string }) => referenceId),
        [`${project}-2`]
      )
      const second = await fromIssues(invoice, { integrationId, filter })
      assert.deepStrictEqual(
        second.body.data.map(({ referenceId }: { referenceId: string }) => referenceId),
        [`${project}-1`]
      )
      assertValidationError(await fromIssues(invoice, { integrationId, filter }), [
        "filter",
        "minItems",
        "matches no unbilled issue"
      ])
      assertValidationError(await fromIssues(invoice, { integrationId }), [
        "issueKeys",
        "required",
        "is required unless filter is given"
      ])
      assertValidationError(await fromIssues(invoice, { integrationId, filter, issueKeys: ["A-1"] }), [
        "filter",
        "unknown",
        "cannot be combined with issueKeys; send one of them"
      ])
      assertValidationError(await fromIssues(invoice, { integrationId, issueKeys: [] }), [
        "issueKeys",
        "minItems",
        "must have at least 1 item, but is empty"
      ])
    })

    it("emits billable.reference_changed once per webhook that changes or deletes the issue", async () => {
      const { id, integrationId, listInbound, invoice, project, waitUntilProcessed, sendAndWait } = await createIssues()
      const key = `${project}-2`
      const response = await fromIssues(invoice, { integrationId, issueKeys: [key] })
      const [line] = response.body.data
      await call("POST", `/invoices/${invoice}/finalize`)
      const fields = { id: "2", key, title: "Two", state: "Done" }
      await sendAndWait("updated", { ...fields, timestamp: 10 })
      await sendAndWait("updated", { ...fields, timestamp: 20, title: "Zwei" })
      await sendAndWait("updated", { ...fields, timestamp: 15, title: "Late" })
      await sendAndWait("updated", { ...fields, timestamp: 30, title: "Zwei", key: `${project}-22` })
      const last = (await listInbound()).at(-1)
      await call("POST", `/integrations/${id}/inbound/${last?.id}/replay`)
      await waitUntilProcessed()
      await sendAndWait("deleted", { ...fields, timestamp: 40, key })
      const events = (await eventsOf(pool, line.id)).map(({ data, ...event }) => ({ ...event, data: JSON.parse(data) }))
      assert.deepStrictEqual(
        events.map(({ created_by, data, sequence, type }) => [
          sequence,
          type,
          created_by,
          data.before?.title,
          data.after?.title
        ]),
        [
          [1, "billable.created", "owner", undefined, undefined],
          [2, "billable.reference_changed", null, "Two", "Zwei"],
          [3, "billable.reference_changed", null, "Zwei", "Zwei"],
          [4, "billable.reference_changed", null, "Zwei", "Two"]
        ]
      )
      const { after, before, ...billable } = events[2]?.data ?? {}
      assert.deepStrictEqual([before.issueKey, after.issueKey], [key, `${project}-22`])
      assert.deepStrictEqual(billable, await read(`/billables/${line.id}`))
      assert.isTrue(events[3]?.data.after.isDeleted)
      const check = makeEventCheck(service.document)
      for (const { data, sequence, type } of events) {
        const event = { id: "evt_1", type, tenant, sequence, timestamp: "2026-01-01T00:00:00Z", data }
        check(event as never) // the check validates every field
      }
      const { rows } = await pool.query("select distinct client_id from events where resource_id = $1", [line.id])
      assert.lengthOf(rows, 1)
      assert.isNotNull(rows[0].client_id)
    })

    it("emits no event for a line of a void invoice", async () => {
      const { integrationId, invoice, project, sendAndWait } = await createIssues()
      const response = await fromIssues(invoice, { integrationId, issueKeys: [`${project}-2`] })
      await call("POST", `/invoices/${invoice}/finalize`)
      await call("POST", `/invoices/${invoice}/void`)
      await sendAndWait("deleted", { id: "2", key: `${project}-2`, timestamp: 40 })
      assert.lengthOf(await eventsOf(pool, response.body.data[0].id), 1)
    })
  })
})
