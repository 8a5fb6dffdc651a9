import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect } from "effect"
import type pg from "pg"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { findNatsProgram } from "../../../src/layers/local/nats/NatsPrograms.ts"
import { insertAuthorization } from "../../support/fixtures/issueRows.ts"
import { makeWebhookBody, signJiraToken, type WebhookKind } from "../../support/fixtures/jiraWebhookBody.ts"
import { jiraSettings, webhookKeyOf } from "../../support/fixtures/jiraWebhooks.ts"
import { type ApiProcesses, bundleApi, prepareApiProcesses } from "../../support/servers/apiProcesses.ts"
import { openPool } from "../../support/servers/database.ts"
import { findClosedPort } from "../../support/servers/proxy.ts"
import { eventually } from "../../support/servers/worker.ts"

const count = Number(process.env["INTAKE_WEBHOOKS"] ?? 5000)
const perIssue = 6

interface Sent {
  readonly kind: WebhookKind
  readonly id: string
  readonly key: string
  readonly title: string
  readonly state: string
  readonly timestamp: number
  readonly identifier: string
}

/** The lives of issues, each as it happened: made, changed some times, and every third deleted in the end. */
const history = (): ReadonlyArray<Sent> =>
  Array.from({ length: count }, (_, n) => {
    const issue = Math.floor(n / perIssue)
    const step = n % perIssue
    const last = issue % 3 === 0 ? "deleted" : "updated"
    const kind: WebhookKind = step === 0 ? "created" : step === perIssue - 1 ? last : "updated"
    return {
      kind,
      id: `${10_000 + issue}`,
      // Some are moved to another project on their way.
      key: `${issue % 5 === 0 && step > 2 ? "MOVED" : "KILL"}-${issue}`,
      title: `Title ${step}`,
      state: `State ${Math.floor(step / 2)}`,
      timestamp: 1_000_000 + step * 10 + issue,
      identifier: `webhook-${n}`
    }
  })

const shuffled = <A>(items: ReadonlyArray<A>) =>
  items
    .map((item) => [Math.random(), item] as const)
    .toSorted(([a], [b]) => a - b)
    .map(([, item]) => item)

interface Seen {
  readonly type: string
  readonly sequence: number
  readonly externalId: string
  readonly issueKey: string
  readonly title: string
  readonly state: string
  readonly isDeleted: boolean
}

/** What happens to issues when every webhook comes once and in order, told without any of the code that does it. */
const inOrder = (sent: ReadonlyArray<Sent>): ReadonlyArray<Seen> => {
  const counts = new Map<string, number>()
  return sent.map(({ id, key, kind, state, title }) => {
    const sequence = (counts.get(id) ?? 0) + 1
    counts.set(id, sequence)
    const isDeleted = kind === "deleted"
    return { type: `issue.${kind}`, sequence, externalId: id, issueKey: key, title, state, isDeleted }
  })
}

const lastOf = (seen: ReadonlyArray<Seen>) => [...new Map(seen.map((one) => [one.externalId, one])).values()]

/** A broker of our own, on one port and one folder, to be killed and started again. */
const makeBroker = async () => {
  const { path } = await Effect.runPromise(findNatsProgram(process.env["NATS_SERVER_BIN"]))
  const folder = mkdtempSync(join(tmpdir(), "contracting-intake-nats-"))
  const port = await findClosedPort()
  const start = () => spawn(path, ["-js", "-sd", folder, "-a", "127.0.0.1", "-p", String(port)], { stdio: "ignore" })
  let child = start()
  const kill = async () => {
    const ended = once(child, "exit")
    child.kill("SIGKILL")
    await ended
  }
  return {
    url: `nats://127.0.0.1:${port}`,
    restart: async () => {
      await kill()
      child = start()
    },
    stop: async () => {
      await kill()
      rmSync(folder, { recursive: true, force: true })
    }
  }
}

describe("the intake, killed again and again together with its broker,", () => {
  let broker: Awaited<ReturnType<typeof makeBroker>>
  let processes: ApiProcesses
  let pool: pg.Pool
  let url: string
  let tenant: string
  let token: string
  beforeAll(async () => {
    broker = await makeBroker()
    await bundleApi()
    processes = await prepareApiProcesses({ ...jiraSettings, NATS_URL: broker.url, METRICS_PORT: "0" })
    url = (await processes.start()).url
    pool = openPool(processes.database.url)
    token = await processes.token("owner")
    tenant = String((await post("/tenants", { name: "Tenant" })).data.id)
  }, 120_000)
  afterAll(async () => {
    await pool.end()
    await processes.clear()
    await broker.stop()
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
    return (await response.json()) as { readonly data: { id: string; webhookUrl: string; accepted: boolean } } // whichever was asked for
  }

  const connected = async () => {
    const { data } = await post("/integrations", { provider: "JIRA", name: "Jira" })
    await insertAuthorization(pool, data.id, 1007)
    return { id: String(data.id), key: webhookKeyOf(data.webhookUrl) }
  }

  /** Sends all of them in any order, three of ten twice. */
  const sendAll = async (key: string, sent: ReadonlyArray<Sent>) => {
    const bearer = await signJiraToken()
    const queue = shuffled([...sent, ...shuffled(sent).slice(0, Math.floor(sent.length * 0.3))]).values()
    const sender = async () => {
      for (const { identifier, kind, ...told } of queue) {
        const headers = { "x-atlassian-webhook-identifier": identifier }
        const { data } = await post(`/webhooks/${key}`, makeWebhookBody(kind, told), bearer, headers)
        assert.isTrue(data.accepted)
      }
    }
    await Promise.all(Array.from({ length: 8 }, sender))
  }

  /** Kills a worker or the broker every moment until told to stop, and leaves everything running. */
  const chaos = () => {
    let isOver = false
    let kills = 0
    const run = async () => {
      const workers = [await processes.startWorker("intake"), await processes.startWorker("intake")]
      while (!isOver) {
        await new Promise((resolve) => setTimeout(resolve, 300 + Math.random() * 700))
        const victim = kills % 3
        if (victim === 2) await broker.restart()
        else {
          await workers[victim]?.kill()
          workers[victim] = await processes.startWorker("intake")
        }
        kills++
      }
      return kills
    }
    const done = run()
    return {
      end: () => {
        isOver = true
        return done
      }
    }
  }

  const waiting = async () => {
    const { rows } = await pool.query<{ n: number }>(
      "select count(*)::int as n from inbound_webhooks where status = 'RECEIVED'"
    )
    return rows[0]?.n ?? 0
  }

  const eventsIn = async (integration: string): Promise<ReadonlyArray<Seen>> => {
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

  const issuesIn = async (integration: string) => {
    const { rows } = await pool.query(
      `select external_id as "externalId", issue_key as "issueKey", title, state, is_deleted as "isDeleted", sequence
       from tracked_issues where integration_id = $1 order by external_id::int`,
      [integration]
    )
    return rows
  }

  it("ends where it would have ended had everything come once and in order", { timeout: 600_000 }, async () => {
    const sent = history()
    const expected = inOrder(sent)
    const [held, live] = [await connected(), await connected()]
    await post(`/integrations/${held.id}/pause`, {})
    const killing = chaos()
    await Promise.all([sendAll(held.key, sent), sendAll(live.key, sent)])
    await post(`/integrations/${held.id}/resume`, {})
    await eventually(async () => (await waiting()) === 0, "everything is worked", 300)
    assert.isAbove(await killing.end(), 3)

    // Everything was there before any of it was worked, and so nothing was late.
    assert.deepStrictEqual(await eventsIn(held.id), expected)
    assert.deepStrictEqual(
      await issuesIn(held.id),
      lastOf(expected).map(({ type: _, ...issue }) => issue)
    )

    // What came late to the other was left out, and nothing else.
    const seen = await eventsIn(live.id)
    assert.deepStrictEqual(
      (await issuesIn(live.id)).map(({ sequence: _, ...issue }) => issue),
      lastOf(expected).map(({ sequence: _s, type: _t, ...issue }) => issue)
    )
    const titles = new Map<string, Array<string>>()
    for (const { externalId, sequence, title } of seen) {
      const earlier = titles.get(externalId) ?? []
      assert.strictEqual(sequence, earlier.length + 1)
      assert.isTrue(
        earlier.every((one) => one < title),
        "later ones only after earlier ones, and none twice"
      )
      titles.set(externalId, [...earlier, title])
    }
    const { rows } = await pool.query<{ status: string; n: number }>(
      "select status, count(*)::int as n from inbound_webhooks where integration_id = $1 group by status",
      [live.id]
    )
    const of = (status: string) => rows.find((row) => row.status === status)?.n ?? 0
    assert.deepStrictEqual([of("DONE"), of("DONE") + of("STALE")], [seen.length, count])
  })
})
