import { setTimeout as pause } from "node:timers/promises"
import { afterEach, assert, beforeAll, describe, inject, it } from "vitest"
import { caseCount } from "../../support/caseCount.ts"
import { makeMailFixture } from "../../support/fixtures/mails.ts"
import { bundleApi } from "../../support/servers/apiProcesses.ts"
import { openPool } from "../../support/servers/database.ts"
import { startService } from "../../support/servers/service.ts"
import { eventually } from "../../support/servers/worker.ts"
import { drain } from "./drain.ts"
import { makeProcesses } from "./processes.ts"
import { startUnreliableMailServer } from "./unreliableMailServer.ts"

// `npm test` sends few mails; `npm run chaos -- --mails` sends more.
const count = Number(process.env["MAILS"] ?? caseCount(40, 100))
const recipientsPerInvoice = 20
/** The share of mails that are sent after the last kill. */
const maxSpared = 0.2
/** Minimum of kills. They go on until most mails are finished. */
const kills = Math.max(caseCount(3, 6), Math.round(count / 40))

describe("Mails through an unreliable mail server, with workers killed at random", {
  timeout: 180_000 + count * 300
}, () => {
  const cleanups: Array<() => Promise<unknown>> = []
  const onCleanup = (cleanup: () => Promise<unknown>) => void cleanups.push(cleanup)
  beforeAll(bundleApi)
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
  })

  const start = async () => {
    const mailServer = await startUnreliableMailServer()
    onCleanup(mailServer.stop)
    const service = await startService({})
    onCleanup(service.stop)
    const pool = openPool(service.database.url)
    onCleanup(() => pool.end())
    const { url } = service.database
    const processes = makeProcesses({ databaseUrl: url, pooledUrl: url, natsUrl: inject("natsUrl") })
    onCleanup(processes.stop)
    const env = { DATA_DIR: service.dataDir, NATS_NAMESPACE: service.database.name }
    processes.add({ name: "relay", args: ["worker", "relay"], env })
    const workers = [1, 2].map((n) => processes.add({ name: `delivery-${n}`, args: ["worker", "delivery"], env }))
    return { mailServer, service, pool, processes, workers, fixture: await makeMailFixture(service, mailServer.port) }
  }

  type Running = Awaited<ReturnType<typeof start>>

  const requestMails = async ({ fixture }: Running) => {
    for (let sent = 0; sent < count; sent += recipientsPerInvoice) {
      const size = Math.min(recipientsPerInvoice, count - sent)
      const to = Array.from({ length: size }, (_, n) => `mail${sent + n}@client.example`)
      const invoice = await fixture.issue()
      // The bundle of the workers renders no PDFs, so they find it rendered.
      await fixture.invoicing.call("GET", `/invoices/${invoice}/pdf`)
      await fixture.send(invoice, { to })
    }
  }

  /** Kills workers that are sending, and ends leases early: a living one must not send what another one has claimed. */
  const killWorkers = async ({ pool, workers }: Running, areAllRequested: () => boolean) => {
    const countDeliveries = async (condition: string) => {
      const { rows } = await pool.query(`select count(*)::int from deliveries where ${condition}`)
      return rows[0]?.count
    }
    const countUnfinished = () => countDeliveries("status in ('WAITING', 'PENDING')")
    const isOver = async () => areAllRequested() && (await countUnfinished()) <= count * maxSpared
    const isSending = async () => (await countDeliveries("lease is not null and leased_until > now()")) > 0
    for (let n = 0; n < kills || !(await isOver()); n++) {
      // A kill during the start of a process would test nothing, and take as long.
      await eventually(async () => (await isSending()) || (await isOver()), "a worker sends mails", 60)
      await pause(1000 + Math.random() * 2000)
      await workers[n % workers.length]?.(100)
      await pool.query("update deliveries set leased_until = now(), next_attempt_at = now() where lease is not null")
      await pool.query("update deliveries set next_attempt_at = now() where status = 'PENDING' and lease is null")
    }
  }

  it("arrive once each, or are UNCERTAIN", async () => {
    const running = await start()
    let areAllRequested = false
    const requested = requestMails(running).then(() => {
      areAllRequested = true
    })
    await Promise.all([requested, killWorkers(running, () => areAllRequested)])
    running.mailServer.behaveFromNowOn()
    await drain(running.pool)
    const { rows } = await running.pool.query<{ recipient: string; status: string }>(
      "select recipient, status from deliveries order by id"
    )
    const found = rows.map(({ recipient, status }) => ({
      status,
      received: running.mailServer.received.get(recipient) ?? 0
    }))
    assert.lengthOf(found, count)
    assert.deepStrictEqual(
      found.filter(({ received }) => received > 1),
      [],
      "mails that arrived twice"
    )
    const delivered = found.filter(({ status }) => status === "DELIVERED")
    assert.isTrue(
      delivered.every(({ received }) => received === 1),
      "every delivered mail arrived"
    )
    const uncertain = found.filter(({ status }) => status === "UNCERTAIN")
    const exhausted = found.filter(({ status }) => status === "EXHAUSTED")
    assert.isTrue(
      exhausted.every(({ received }) => received === 0),
      "no mail arrived that was given up"
    )
    assert.strictEqual(delivered.length + uncertain.length + exhausted.length, count)
    assert.isAbove(delivered.length, 0)
    assert.deepStrictEqual(running.processes.unexpectedExits, [])
    if (process.env["MAILS"] !== undefined) {
      const arrived = uncertain.filter(({ received }) => received === 1).length
      console.log(
        `${delivered.length} delivered, ${exhausted.length} given up, ${uncertain.length} uncertain of which ${arrived} arrived`
      )
    }
  })
})
