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

interface ShownIssue {
  readonly id: string
  readonly integration: string
  readonly externalId: string
  readonly projectKey: string
  readonly issueKey: string
  readonly title?: string
  readonly state?: string
  readonly isDeleted: boolean
}

describe("the intake", () => {
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

  /** A connected integration; `tell` sends a webhook and waits until it was worked. */
  const connected = async () => {
    const { id, key } = await jiraSender(service).made(tenant)
    await insertAuthorization(pool, id, 1007)
    const inbound = async () =>
      (await read(`/integrations/${id}/inbound?limit=200`)) as ReadonlyArray<{ id: string; status: string }>
    const settled = () =>
      eventually(async () => (await inbound()).every(({ status }) => status !== "RECEIVED"), "everything is worked")
    const send = async (kind: WebhookKind, told: IssueFields = {}) =>
      assertAccepted(await jiraSender(service).send(key, makeWebhookBody(kind, told)))
    const tell = async (kind: WebhookKind, told: IssueFields = {}) => {
      await send(kind, told)
      await settled()
    }
    const issues = async (query = ""): Promise<ReadonlyArray<ShownIssue>> => read(`/integrations/${id}/issues${query}`)
    return { id, key, send, tell, settled, inbound, issues }
  }

  const statuses = (rows: ReadonlyArray<{ readonly status: string }>) => rows.map(({ status }) => status)

  it("keeps issues as the tracker tells of them, and tells of each change as the API shows it", async () => {
    const { id, issues, tell } = await connected()
    await tell("created", { timestamp: 1000 })
    await tell("updated", { timestamp: 2000, state: "Done" })
    const [issue] = await issues()
    assert.deepInclude(issue, { integration: id, externalId: "24117", issueKey: "NORTH-318", projectKey: "NORTH" })
    assert.deepInclude(issue, { title: "Pump", state: "Done", isDeleted: false })
    const shown = await call("GET", `/integrations/${id}/issues/${issue?.id}`)
    await tell("deleted", { timestamp: 3000, state: "Done" })
    const events = await eventsOf(pool, issue?.id ?? "")
    assert.deepStrictEqual(
      events.map(({ sequence, type }) => [sequence, type]),
      [
        [1, "issue.created"],
        [2, "issue.updated"],
        [3, "issue.deleted"]
      ]
    )
    assert.strictEqual(shown.text, `{"data":${events[1]?.data}}`)
    const check = makeEventCheck(service.document)
    for (const { data, ...event } of events) {
      check({
        id: event.id,
        type: event.type,
        tenant,
        sequence: event.sequence,
        timestamp: "2026-01-01T00:00:00Z",
        data: JSON.parse(data)
      } as never) // the check looks at all of it
    }
  })

  it("lists issues by project, key, state and whether they are there", async () => {
    const { issues, settled, send } = await connected()
    await send("created", { id: "1", key: "A-1", state: "Open" })
    await send("created", { id: "2", key: "A-2", state: "Done" })
    await send("created", { id: "3", key: "B-3", state: "Open" })
    await send("deleted", { id: "3", key: "B-3", state: "Open", timestamp: 1_781_253_604_121 })
    await settled()
    const keys = async (query: string) => (await issues(query)).map(({ issueKey }) => issueKey).sort()
    assert.deepStrictEqual(await keys("?projectKey=A"), ["A-1", "A-2"])
    assert.deepStrictEqual(await keys("?key=A-2"), ["A-2"])
    assert.deepStrictEqual(await keys("?state=Open"), ["A-1", "B-3"])
    assert.deepStrictEqual(await keys("?deleted=true"), ["B-3"])
    assert.deepStrictEqual(await keys("?deleted=false&state=Open"), ["A-1"])
  })

  it("lets nothing older overwrite what is newer, and nothing bring a deleted issue back", async () => {
    const { inbound, issues, tell } = await connected()
    await tell("updated", { timestamp: 2000, title: "Newer" })
    await tell("created", { timestamp: 1000, title: "Older" })
    await tell("updated", { timestamp: 1999, title: "Older" })
    assert.deepInclude((await issues())[0], { title: "Newer" })
    await tell("deleted", { timestamp: 1500 })
    await tell("updated", { timestamp: 9000, title: "Back" })
    await tell("created", { timestamp: 9001, title: "Back" })
    await tell("deleted", { timestamp: 9002 })
    assert.deepStrictEqual(statuses(await inbound()), ["DONE", "STALE", "STALE", "DONE", "STALE", "STALE", "STALE"])
    const [issue] = await issues()
    assert.isTrue(issue?.isDeleted)
    assert.deepStrictEqual(
      (await eventsOf(pool, issue?.id ?? "")).map(({ type }) => type),
      ["issue.updated", "issue.deleted"]
    )
  })

  it("waits while the integration is paused, and then works everything in the order it happened", async () => {
    const { id, inbound, issues, send, settled } = await connected()
    await call("POST", `/integrations/${id}/pause`)
    for (const n of [3, 1, 5, 2, 4]) await send(n === 1 ? "created" : "updated", { timestamp: n, title: `Title ${n}` })
    await new Promise((resolve) => setTimeout(resolve, 4000))
    assert.deepStrictEqual(new Set(statuses(await inbound())), new Set(["RECEIVED"]))
    assert.isEmpty(await issues())
    await call("POST", `/integrations/${id}/resume`)
    await settled()
    assert.deepStrictEqual(new Set(statuses(await inbound())), new Set(["DONE"]))
    const [issue] = await issues()
    const events = await eventsOf(pool, issue?.id ?? "")
    assert.deepStrictEqual(
      events.map(({ data }) => JSON.parse(data).title),
      [1, 2, 3, 4, 5].map((n) => `Title ${n}`)
    )
  })

  it("gives up on a webhook that cannot be worked, and on no other", { timeout: 120_000 }, async () => {
    const { id, inbound, issues, send, settled, tell } = await connected()
    await call("POST", `/integrations/${id}/pause`)
    await send("created", { timestamp: 1 })
    const [poison] = await inbound()
    const { body } = await read(`/integrations/${id}/inbound/${poison?.id}`)
    await pool.query("update inbound_webhooks set body = 'no JSON' where id = $1", [poison?.id])
    await send("updated", { timestamp: 2, title: "Fine" })
    await call("POST", `/integrations/${id}/resume`)
    await eventually(async () => (await issues()).length === 1, "the other is worked")
    await pool.query(
      "update inbound_webhooks set attempts = 4, received_at = '2020-01-01', processed_at = null where id = $1",
      [poison?.id]
    )
    await eventually(async () => (await inbound())[0]?.status === "FAILED", "it is given up", 60)
    const failed = await read(`/integrations/${id}/inbound/${poison?.id}`)
    assert.isString(failed.error)
    await tell("updated", { timestamp: 3, title: "Finer" })
    assert.deepInclude((await issues())[0], { title: "Finer" })

    await pool.query("update inbound_webhooks set body = $2 where id = $1", [poison?.id, body])
    const replayed = await call("POST", `/integrations/${id}/inbound/${poison?.id}/replay`)
    assert.strictEqual(replayed.status, 200, replayed.text)
    assert.deepInclude(replayed.body.data, { status: "RECEIVED", attempts: 0 })
    await settled()
    assert.deepStrictEqual(statuses(await inbound()), ["STALE", "DONE", "DONE"], "what is newer stays")
  })

  it("has no effect twice when something is worked again", async () => {
    const { id, inbound, issues, settled, tell } = await connected()
    await tell("created", { timestamp: 1 })
    await tell("updated", { timestamp: 2, title: "New" })
    for (const { id: webhook } of await inbound()) await call("POST", `/integrations/${id}/inbound/${webhook}/replay`)
    await settled()
    assert.deepStrictEqual(statuses(await inbound()), ["STALE", "DONE"])
    assert.lengthOf(await eventsOf(pool, (await issues())[0]?.id ?? ""), 2)
  })

  it("shows the ledger by status and time, and a body in the characters it came in", async () => {
    const { id, inbound, key, tell } = await connected()
    await tell("created", { timestamp: 1 })
    const text = ` ${JSON.stringify(makeWebhookBody("updated", { timestamp: 0 }))} `
    assertAccepted(await jiraSender(service).send(key, text, { identifier: "second" }))
    await eventually(async () => statuses(await inbound())[1] === "STALE", "it is worked")
    const [first, second] = await inbound()
    assert.notProperty(first, "body")
    const found = async (query: string) =>
      ((await read(`/integrations/${id}/inbound?${query}`)) as ReadonlyArray<{ id: string }>).map(({ id }) => id)
    assert.deepStrictEqual(await found("status=STALE"), [second?.id])
    assert.deepStrictEqual(await found("since=2100-01-01T00:00:00Z"), [])
    assert.deepStrictEqual(await found("until=2100-01-01T00:00:00Z&limit=1"), [first?.id])
    const full = await read(`/integrations/${id}/inbound/${second?.id}`)
    assert.deepInclude(full, { body: text, identifier: "second", attempts: 1, happenedAt: 0, issueId: "24117" })
  })

  describe("with what was billed for issues:", () => {
    const fromIssues = (invoice: string, body: object) =>
      call("POST", `/invoices/${invoice}/billables/from-issues`, { amountMinor: 12_000, ...body })

    /** Three issues, of which the last is gone. */
    const stage = async () => {
      const tracker = await connected()
      const project = `P${tracker.id.slice(-6).toUpperCase()}`
      await tracker.send("created", { id: "1", key: `${project}-1`, title: "x".repeat(300), timestamp: 1 })
      await tracker.send("created", { id: "2", key: `${project}-2`, title: "Two", state: "Done", timestamp: 1 })
      await tracker.send("created", { id: "3", key: `${project}-3`, timestamp: 1 })
      await tracker.send("deleted", { id: "3", key: `${project}-3`, timestamp: 2 })
      await tracker.settled()
      return {
        ...tracker,
        project,
        integrationId: tracker.id,
        invoice: (await invoiceClient(service, tenant).draft()).id
      }
    }

    it("lines come from issues by key, and say where they come from", async () => {
      const { integrationId, invoice, issues, project } = await stage()
      const issueKeys = [`${project}-2`, `${project}-1`]
      const answer = await fromIssues(invoice, { integrationId, issueKeys, quantity: 1.5 })
      assert.strictEqual(answer.status, 201, answer.text)
      assert.strictEqual(answer.headers.get("location"), `/api/v1/billables?invoiceId=${invoice}`)
      const [two, one] = answer.body.data
      const known = (await issues(`?key=${project}-2`))[0]
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

    it("unknown, deleted, repeated and billed issues are refused by their place", async () => {
      const { integrationId, invoice, project } = await stage()
      const key = (n: number) => `${project}-${n}`
      const none = "names no issue that is there"
      assertValidationError(
        await fromIssues(invoice, { integrationId, issueKeys: [key(1), key(3), key(9)] }),
        ["issueKeys[1]", "exists", none],
        ["issueKeys[2]", "exists", none]
      )
      assertValidationError(await fromIssues(invoice, { integrationId, issueKeys: [key(1), key(1)] }), [
        "issueKeys[1]",
        "unique",
        "is on a line before"
      ])
      assert.strictEqual((await fromIssues(invoice, { integrationId, issueKeys: [key(1)], name: "Work" })).status, 201)
      const second = (await invoiceClient(service, tenant).draft()).id
      assertValidationError(await fromIssues(second, { integrationId, issueKeys: [key(2), key(1)] }), [
        "issueKeys[1]",
        "unique",
        `is billed already, on invoice ${invoice}`
      ])
      assert.isEmpty(await read(`/billables?invoiceId=${second}`))
    })

    it("a filter leaves out what is billed, until nothing is left", async () => {
      const { integrationId, invoice, project } = await stage()
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
        "leaves no issue that is not billed yet"
      ])
      assertValidationError(await fromIssues(invoice, { integrationId }), [
        "issueKeys",
        "required",
        "is required, unless filter is given"
      ])
      assertValidationError(await fromIssues(invoice, { integrationId, filter, issueKeys: ["A-1"] }), [
        "filter",
        "unknown",
        "means nothing beside issueKeys"
      ])
      assertValidationError(await fromIssues(invoice, { integrationId, issueKeys: [] }), [
        "issueKeys",
        "minItems",
        "must have at least 1 item"
      ])
    })

    it("a line is told of when its issue changes or vanishes, once for each webhook", async () => {
      const { id, integrationId, inbound, invoice, project, settled, tell } = await stage()
      const key = `${project}-2`
      const answer = await fromIssues(invoice, { integrationId, issueKeys: [key] })
      const [line] = answer.body.data
      await call("POST", `/invoices/${invoice}/finalize`)
      const told = { id: "2", key, title: "Two", state: "Done" }
      await tell("updated", { ...told, timestamp: 10 })
      await tell("updated", { ...told, timestamp: 20, title: "Zwei" })
      await tell("updated", { ...told, timestamp: 15, title: "Late" })
      await tell("updated", { ...told, timestamp: 30, title: "Zwei", key: `${project}-22` })
      const last = (await inbound()).at(-1)
      await call("POST", `/integrations/${id}/inbound/${last?.id}/replay`)
      await settled()
      await tell("deleted", { ...told, timestamp: 40, key })
      const events = (await eventsOf(pool, line.id)).map(({ data, ...event }) => ({ ...event, data: JSON.parse(data) }))
      assert.deepStrictEqual(
        events.map(({ data, sequence, type }) => [sequence, type, data.before?.title, data.after?.title]),
        [
          [1, "billable.created", undefined, undefined],
          [2, "billable.reference_changed", "Two", "Zwei"],
          [3, "billable.reference_changed", "Zwei", "Zwei"],
          [4, "billable.reference_changed", "Zwei", "Two"]
        ]
      )
      const { after, before, ...shown } = events[2]?.data ?? {}
      assert.deepStrictEqual([before.issueKey, after.issueKey], [key, `${project}-22`])
      assert.deepStrictEqual(shown, await read(`/billables/${line.id}`))
      assert.isTrue(events[3]?.data.after.isDeleted)
      const check = makeEventCheck(service.document)
      for (const { data, sequence, type } of events) {
        check({ id: "evt_1", type, tenant, sequence, timestamp: "2026-01-01T00:00:00Z", data } as never) // the check looks at all of it
      }
      const { rows } = await pool.query("select distinct client_id from events where resource_id = $1", [line.id])
      assert.lengthOf(rows, 1)
      assert.isNotNull(rows[0].client_id)
    })

    it("nothing is told of a line whose invoice is void", async () => {
      const { integrationId, invoice, project, tell } = await stage()
      const answer = await fromIssues(invoice, { integrationId, issueKeys: [`${project}-2`] })
      await call("POST", `/invoices/${invoice}/finalize`)
      await call("POST", `/invoices/${invoice}/void`)
      await tell("deleted", { id: "2", key: `${project}-2`, timestamp: 40 })
      assert.lengthOf(await eventsOf(pool, answer.body.data[0].id), 1)
    })
  })
})
