import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import { Effect } from "effect"
import type pg from "pg"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { findNatsProgram } from "../../../tools/local/nats/NatsPrograms.ts"
import { insertAuthorization } from "../../support/fixtures/issueRows.ts"
import { makeWebhookBody, signJiraToken, type WebhookKind } from "../../support/fixtures/jiraWebhookBody.ts"
import { jiraSettings, webhookKeyOf } from "../../support/fixtures/jiraWebhooks.ts"
import { type ApiProcesses, bundleApi, prepareApiProcesses } from "../../support/servers/apiProcesses.ts"
import { openPool } from "../../support/servers/database.ts"
import { findClosedPort } from "../../support/servers/proxy.ts"
import { eventually } from "../../support/servers/worker.ts"
import { killAtRandom, type Target } from "../chaos/chaosMonkey.ts"

const count = Number(process.env["INTAKE_WEBHOOKS"] ?? 300)
const webhooksPerIssue = 6
/** How often each intake worker and NATS are killed. */
const killsPerTarget = Math.max(2, Math.round(count / 1000))

interface SentWebhook {
  readonly kind: WebhookKind
  readonly id: string
  readonly key: string
  readonly title: string
  readonly state: string
  readonly timestamp: number
  readonly identifier: string
}

/** The webhooks of issues in order: each issue is created, updated four times, and updated or deleted in the end. */
const makeWebhooks = (): ReadonlyArray<SentWebhook> =>
  Array.from({ length: count }, (_, n) => {
    const issue = Math.floor(n / webhooksPerIssue)
    const step = n % webhooksPerIssue
    const last = issue % 3 === 0 ? "deleted" : "updated"
    const kind: WebhookKind = step === 0 ? "created" : step === webhooksPerIssue - 1 ? last : "updated"
    return {
      kind,
      id: `${10_000 + issue}`,
      // Every fifth issue moves to another project.
      key: `${issue % 5 === 0 && step > 2 ? "MOVED" : "KILL"}-${issue}`,
      title: `Title ${step}`,
      state: `State ${Math.floor(step / 2)}`,
      timestamp: 1_000_000 + step * 10 + issue,
      identifier: `webhook-${n}`
    }
  })

/** How many webhooks of an integration are sent twice. */
const duplicates = Math.floor(count * 0.3)

const shuffle = <A>(items: ReadonlyArray<A>) =>
  items
    .map((item) => [Math.random(), item] as const)
    .toSorted(([a], [b]) => a - b)
    .map(([, item]) => item)

interface IssueEvent {
  readonly type: string
  readonly sequence: number
  readonly externalId: string
  readonly issueKey: string
  readonly title: string
  readonly state: string
  readonly isDeleted: boolean
}

/** The events when every webhook arrives once and in order, computed without the code under test. */
const expectedEventsOf = (webhooks: ReadonlyArray<SentWebhook>): ReadonlyArray<IssueEvent> => {
  const counts = new Map<string, number>()
  return webhooks.map(({ id, key, kind, state, title }) => {
    const sequence = (counts.get(id) ?? 0) + 1
    counts.set(id, sequence)
    const isDeleted = kind === "deleted"
    return { type: `issue.${kind}`, sequence, externalId: id, issueKey: key, title, state, isDeleted }
  })
}

const lastEventOfEach = (events: ReadonlyArray<IssueEvent>) => [
  ...new Map(events.map((event) => [event.externalId, event])).values()
]

/** A NATS server that can be killed and started again on the same port and folder. */
const startKillableNats = async () => {
  const { path } = await Effect.runPromise(findNatsProgram(process.env["NATS_SERVER_BIN"]))
  const folder = mkdtempSync(join(tmpdir(), "contracting-intake-nats-"))
  const port = await findClosedPort()
  const start = () => spawn(path, ["-js", "-sd", folder, "-a", "127.0.0.1", "-p", String(port)], { stdio: "ignore" })
  let child = start()
  const kill = async () => {
    const exited = once(child, "exit")
    child.kill("SIGKILL")
    await exited
  }
  return {
    url: `nats://127.0.0.1:${port}`,
    restart: async (downMillis: number) => {
      await kill()
      await pause(downMillis)
      child = start()
    },
    stop: async () => {
      await kill()
      rmSync(folder, { recursive: true, force: true })
    }
  }
}

describe("Intake workers that are killed together with NATS", () => {
  let nats: Awaited<ReturnType<typeof startKillableNats>>
  let processes: ApiProcesses
  let pool: pg.Pool
  let url: string
  let tenant: string
  let token: string
  beforeAll(async () => {
    nats = await startKillableNats()
    await bundleApi()
    processes = await prepareApiProcesses({ ...jiraSettings, NATS_URL: nats.url, METRICS_PORT: "0" })
    url = (await processes.start()).url
    pool = openPool(processes.database.url)
    token = await processes.token("owner")
    tenant = String((await post("/tenants", { name: "Tenant" })).data.id)
  }, 120_000)
  afterAll(async () => {
    await pool.end()
    await processes.stopAll()
    await nats.stop()
  })

  const post = async (path: string, body: object, bearer = token, headers: Record<string, string> = {}) => {
    const response = await fetch(`${url}/api/v1${path}`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${bearer}`,
        "content-type": "application/json",
        ...(tenant === undefined || path.startsWith("/webhooks") ? {} : { "tenant-id": tenant }),
        ...headers
      },
      body: JSON.stringify(body)
    })
    assert.isTrue(response.ok, `${path}: ${response.status}`)
    // The fields of every response that the test reads.
    return (await response.json()) as { readonly data: { id: string; webhookUrl: string; accepted: boolean } }
  }

  const createIntegration = async () => {
    const { data } = await post("/integrations", { provider: "JIRA", name: "Jira" })
    await insertAuthorization(pool, data.id, 1007)
    return { id: String(data.id), key: webhookKeyOf(data.webhookUrl) }
  }

  let accepted = 0

  /** Sends all webhooks in random order, 30 % of them twice. */
  const sendAll = async (key: string, webhooks: ReadonlyArray<SentWebhook>) => {
    const bearer = await signJiraToken()
    const queue = shuffle([...webhooks, ...shuffle(webhooks).slice(0, duplicates)]).values()
    const sender = async () => {
      for (const { identifier, kind, ...fields } of queue) {
        const headers = { "x-atlassian-webhook-identifier": identifier }
        const { data } = await post(`/webhooks/${key}`, makeWebhookBody(kind, fields), bearer, headers)
        assert.isTrue(data.accepted)
        accepted++
      }
    }
    await Promise.all(Array.from({ length: 8 }, sender))
  }

  const startKillableWorker = async (name: string): Promise<Target> => {
    let worker = await processes.startWorker("intake")
    const kill = async (downMillis: number) => {
      await worker.kill()
      await pause(downMillis)
      worker = await processes.startWorker("intake")
    }
    return { name, key: name, kill }
  }

  const countUnprocessed = async () => {
    const { rows } = await pool.query<{ n: number }>(
      "select count(*)::int as n from inbound_webhooks where status = 'RECEIVED'"
    )
    return rows[0]?.n ?? 0
  }

  const readEvents = async (integration: string): Promise<ReadonlyArray<IssueEvent>> => {
    const { rows } = await pool.query(
      `select type, sequence, data from events where type like 'issue.%' and data->>'integration' = $1
       order by (data->>'externalId')::int, sequence`,
      [integration]
    )
    return rows.map(({ data, sequence, type }) => {
      const { externalId, isDeleted, issueKey, state, title } = data
      return { type, sequence, externalId, issueKey, title, state, isDeleted }
    })
  }

  const readIssues = async (integration: string) => {
    const { rows } = await pool.query(
      `select external_id as "externalId", issue_key as "issueKey", title, state, is_deleted as "isDeleted", sequence
       from tracked_issues where integration_id = $1 order by external_id::int`,
      [integration]
    )
    return rows
  }

  it("produce the same issues as webhooks that arrive once and in order", { timeout: 600_000 }, async () => {
    const webhooks = makeWebhooks()
    const expected = expectedEventsOf(webhooks)
    const [paused, active] = [await createIntegration(), await createIntegration()]
    await post(`/integrations/${paused.id}/pause`, {})
    const targets = [
      ...(await Promise.all([startKillableWorker("intake-1"), startKillableWorker("intake-2")])),
      { name: "nats", key: "nats", kill: nats.restart }
    ]
    let processed = 0
    // The first half of the kills hits the sending, the second half the backlog of the paused integration.
    const progress = () => accepted / (4 * (count + duplicates)) + processed / (2 * count)
    const monkey = killAtRandom({ targets, rounds: killsPerTarget }, progress)
    try {
      await Promise.all([sendAll(paused.key, webhooks), sendAll(active.key, webhooks)])
      await post(`/integrations/${paused.id}/resume`, {})
      const isDone = async () => {
        const unprocessed = await countUnprocessed()
        processed = Math.max(processed, count - unprocessed)
        return unprocessed === 0
      }
      await eventually(isDone, "every webhook is processed", 300)
      await monkey.done
    } finally {
      await monkey.stop()
    }
    assert.deepStrictEqual(
      Object.fromEntries(monkey.kills),
      Object.fromEntries(targets.map(({ name }) => [name, killsPerTarget]))
    )

    // Every webhook of the paused integration arrived before the first was processed, so none is stale.
    assert.deepStrictEqual(await readEvents(paused.id), expected)
    assert.deepStrictEqual(
      await readIssues(paused.id),
      lastEventOfEach(expected).map(({ type: _, ...issue }) => issue)
    )

    // The active integration skips webhooks that arrive after a newer one, and no other.
    const events = await readEvents(active.id)
    assert.deepStrictEqual(
      (await readIssues(active.id)).map(({ sequence: _, ...issue }) => issue),
      lastEventOfEach(expected).map(({ sequence: _s, type: _t, ...issue }) => issue)
    )
    const titles = new Map<string, Array<string>>()
    for (const { externalId, sequence, title } of events) {
      const earlier = titles.get(externalId) ?? []
      assert.strictEqual(sequence, earlier.length + 1)
      assert.isTrue(
        earlier.every((one) => one < title),
        "the titles of an issue are in order and without duplicates"
      )
      titles.set(externalId, [...earlier, title])
    }
    const { rows } = await pool.query<{ status: string; n: number }>(
      "select status, count(*)::int as n from inbound_webhooks where integration_id = $1 group by status",
      [active.id]
    )
    const countOf = (status: string) => rows.find((row) => row.status === status)?.n ?? 0
    assert.deepStrictEqual([countOf("DONE"), countOf("DONE") + countOf("STALE")], [events.length, count])
  })
})
