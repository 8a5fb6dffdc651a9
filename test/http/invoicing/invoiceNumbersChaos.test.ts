import type pg from "pg"
import { afterEach, assert, beforeAll, describe, it } from "vitest"
import { caseCount } from "../../support/caseCount.ts"
import { type CallApi, draftInvoiceClient } from "../../support/fixtures/draftInvoices.ts"
import { type ApiProcesses, bundleApi, prepareApiProcesses } from "../../support/servers/apiProcesses.ts"
import { terminateRandomConnections } from "../../support/servers/connectionTerminator.ts"
import { openPool } from "../../support/servers/database.ts"

type ApiResponse = Awaited<ReturnType<CallApi>>

interface IssuedInvoice {
  readonly id: string
  readonly invoiceNumber: string
  readonly issuedAt: string
}

const count = caseCount(80, 240)

/** How many invoices are finalized when the first process is killed, and when the second is. */
const killAt = [30, 60]

/** How many requests are in flight at a time. */
const concurrency = 24

/** The result of a request whose process is killed. */
const noResponse: ApiResponse = { status: 0, text: "", body: undefined }

const sequenceOf = ({ invoiceNumber }: IssuedInvoice) => Number(invoiceNumber.slice("N-".length))

const pickRandom = <A>(items: ReadonlyArray<A>): A =>
  items[Math.floor(Math.random() * items.length)] ?? assert.fail("the list is empty")

/** Starts tasks in their order, `concurrency` at a time. */
const runAll = async (tasks: ReadonlyArray<() => Promise<void>>) => {
  const queue = tasks.values()
  const worker = async () => {
    for (const task of queue) await task()
  }
  await Promise.all(Array.from({ length: concurrency }, worker))
}

describe("Invoice numbers", { timeout: 120_000 }, () => {
  let processes: ApiProcesses | undefined
  let pool: pg.Pool | undefined
  beforeAll(bundleApi)
  afterEach(async () => {
    await pool?.end()
    await processes?.stopAll()
  })

  /** Starts two API processes on one new database. Requests go to them in turn. */
  const startApis = async () => {
    const started = await prepareApiProcesses({
      DATABASE_POOL: "8",
      MAX_QUEUED_REQUESTS_PER_CALLER: "10000",
      MAX_QUEUED_REQUESTS: "10000"
    })
    processes = started
    const statements = openPool(started.database.url)
    pool = statements
    let apis = await Promise.all(Array.from({ length: 2 }, started.start))
    const authorization = `Bearer ${await started.token("owner")}`
    let requests = 0

    const callIn =
      (tenant?: string): CallApi =>
      async (method, path, body) => {
        requests += 1
        const headers = {
          authorization,
          ...(tenant === undefined ? {} : { "tenant-id": tenant }),
          ...(body === undefined ? {} : { "content-type": "application/json" })
        }
        try {
          const response = await fetch(`${apis[requests % apis.length]?.url}/api/v1${path}`, {
            method,
            headers,
            ...(body === undefined ? {} : { body: JSON.stringify(body) })
          })
          const text = await response.text()
          return { status: response.status, text, body: JSON.parse(text) }
        } catch {
          return noResponse
        }
      }

    const kill = async (index: number) => apis[index]?.kill()
    const startAnother = async () => {
      apis = [await started.start()]
    }
    return { callIn, pool: statements, kill, startAnother }
  }

  /** Creates a tenant with drafts that can be finalized, and some that cannot. */
  const prepare = async () => {
    const { callIn, kill, pool, startAnother } = await startApis()
    const tenant = String((await callIn()("POST", "/tenants", { name: "Tenant" })).body.data.id)
    const call = callIn(tenant)
    assert.strictEqual((await call("PATCH", "/invoice-series", { pattern: "N-{seq}" })).status, 200)
    const { contract, draft } = draftInvoiceClient(call)
    // Under a single contract the requests would wait for its lock and never for that of the series.
    const contracts = await Promise.all(Array.from({ length: 4 }, contract))
    const drafts = (length: number, terms?: Parameters<typeof draft>[1]) =>
      Promise.all(Array.from({ length }, (_, index) => draft(contracts[index % contracts.length] ?? "", terms)))
    const valid = await drafts(count)
    const invalid = [
      ...(await drafts(8, { dueAt: "2020-01-01T00:00:00Z" })),
      ...(await drafts(4, { lines: [] })),
      ...(await drafts(4, { lines: [-1] }))
    ]
    return { call, kill, pool, startAnother, tenant, valid, invalid }
  }

  type Prepared = Awaited<ReturnType<typeof prepare>>

  /**
   * Finalizes all valid drafts. Kills one process, later the other, and starts a new one when none is left. Returns the
   * number in each response, and the status of every response.
   */
  const finalizeAll = async ({ call, invalid, kill, startAnother, valid }: Prepared) => {
    const numbers = new Map<string, string>()
    const finalized = new Set<string>()
    const statuses: Array<number> = []
    const kills: Array<Promise<void>> = []

    const finalize = async (id: string) => {
      const response = await call("POST", `/invoices/${id}/finalize`)
      assert.include([0, 200, 400, 503], response.status, response.text)
      statuses.push(response.status)
      return response
    }
    const attempt = async (id: string) => {
      const { body, status, text } = await finalize(id)
      if (status === 0 || status === 503) return
      if (status === 400) assert.include(text, "is FINALIZED; only a DRAFT invoice can be finalized")
      else {
        assert.isFalse(numbers.has(id), `${id} was finalized twice`)
        numbers.set(id, body.data.invoiceNumber)
      }
      finalized.add(id)
      if (finalized.size >= (killAt[kills.length] ?? count + 1)) kills.push(kill(kills.length))
    }
    const attemptInvalid = async () => {
      const { status, text } = await finalize(pickRandom(invalid))
      assert.notStrictEqual(status, 200, text)
      if (status === 400) assert.match(text, /"(dueAt|billableCount|totalMinor)"/)
    }

    let isReplaced = false
    for (let round = 1; finalized.size < count; round++) {
      assert.isAtMost(round, 50, "the drafts are finalized in a finite number of rounds")
      const remaining = valid.filter((id) => !finalized.has(id))
      const tasks = remaining.flatMap((id, index) => [
        () => attempt(id),
        ...(index % 3 === 0 ? [() => attempt(id), attemptInvalid] : [])
      ])
      await runAll(tasks)
      await Promise.all(kills)
      if (kills.length === killAt.length && !isReplaced) {
        isReplaced = true
        await startAnother()
      }
    }
    return { numbers, statuses, kills: kills.length }
  }

  /** Asserts that each invoice has one unique number and one event, and that the numbers have no gap. */
  const assertGapless = async ({ call, pool, tenant, valid }: Prepared, numbers: ReadonlyMap<string, string>) => {
    const series = await call("GET", "/invoice-series")
    assert.deepStrictEqual(series.body.data, {
      pattern: "N-{seq}",
      next: count + 1,
      periods: [{ period: "all", first: "N-1", last: `N-${count}`, count, voids: 0, gaps: [] }]
    })

    const { body } = await call("GET", `/invoices?status=FINALIZED&limit=${count}`)
    const listed: ReadonlyArray<IssuedInvoice> = body.data
    const issued = [...listed].sort((one, other) => sequenceOf(one) - sequenceOf(other))
    assert.deepStrictEqual(
      issued.map(({ invoiceNumber }) => invoiceNumber),
      Array.from({ length: count }, (_, index) => `N-${index + 1}`)
    )
    const ids = issued.map(({ id }) => id)
    assert.deepStrictEqual([...ids].sort(), [...valid].sort())
    const dates = issued.map(({ issuedAt }) => issuedAt)
    assert.deepStrictEqual(dates, [...dates].sort())
    for (const { id, invoiceNumber } of issued) assert.strictEqual(numbers.get(id) ?? invoiceNumber, invoiceNumber, id)

    const { rows: events } = await pool.query(
      `select resource_id as id, data ->> 'invoiceNumber' as "invoiceNumber", data ->> 'issuedAt' as "issuedAt"
       from events where tenant_id = $1 and type = 'invoice.finalized'`,
      [tenant]
    )
    assert.deepStrictEqual(
      events.sort((one, other) => sequenceOf(one) - sequenceOf(other)),
      issued.map(({ id, invoiceNumber, issuedAt }) => ({ id, invoiceNumber, issuedAt }))
    )
  }

  it("have no gaps or duplicates while API processes are killed and database connections are terminated", async () => {
    const prepared = await prepare()
    const terminators = [20, 20].map((max) => terminateRandomConnections(prepared.pool, max))
    const stopTerminating = async () => {
      const [one = 0, other = 0] = await Promise.all(terminators.map((stop) => stop()))
      return one + other
    }
    const { kills, numbers, statuses } = await finalizeAll(prepared).finally(stopTerminating)
    assert.strictEqual(kills, killAt.length)
    assert.isAtLeast(await stopTerminating(), 5, "connections are terminated")
    for (const status of [0, 200, 400, 503]) assert.include(statuses, status)
    await assertGapless(prepared, numbers)
  })
})
