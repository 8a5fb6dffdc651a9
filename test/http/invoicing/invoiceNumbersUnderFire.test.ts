import type pg from "pg"
import { afterEach, assert, beforeAll, describe, it } from "vitest"
import { type CallApi, draftInvoiceClient } from "../../support/fixtures/draftInvoices.ts"
import { type ApiProcesses, bundleApi, prepareApiProcesses } from "../../support/servers/apiProcesses.ts"
import { terminateRandomConnections } from "../../support/servers/connectionTerminator.ts"
import { openPool } from "../../support/servers/database.ts"

type Answer = Awaited<ReturnType<CallApi>>

interface Issued {
  readonly id: string
  readonly invoiceNumber: string
  readonly issuedAt: string
}

const count = 200

/** How many invoices are finalized when the first process is killed, and when the second is. */
const killAt = [50, 110]

/** What a call gets whose process is killed. */
const unanswered: Answer = { status: 0, text: "", body: undefined }

const placeOf = ({ invoiceNumber }: Issued) => Number(invoiceNumber.slice("N-".length))

const some = <A>(items: ReadonlyArray<A>): A =>
  items[Math.floor(Math.random() * items.length)] ?? assert.fail("there is nothing to choose from")

describe("invoice numbers under fire", { timeout: 120_000 }, () => {
  let processes: ApiProcesses | undefined
  let pool: pg.Pool | undefined
  beforeAll(bundleApi)
  afterEach(async () => {
    await pool?.end()
    await processes?.clear()
  })

  /** So many processes over one new database, called in turn. */
  const startApis = async (howMany: number) => {
    const started = await prepareApiProcesses({
      DATABASE_POOL: "8",
      MAX_QUEUED_REQUESTS_PER_CALLER: "10000",
      MAX_QUEUED_REQUESTS: "10000"
    })
    processes = started
    const statements = openPool(started.database.url)
    pool = statements
    const apis = await Promise.all(Array.from({ length: howMany }, started.start))
    const authorization = `Bearer ${await started.token("owner")}`
    let turn = 0

    const askIn =
      (tenant?: string): CallApi =>
      async (method, path, body) => {
        turn += 1
        const headers = {
          authorization,
          ...(tenant === undefined ? {} : { "tenant-id": tenant }),
          ...(body === undefined ? {} : { "content-type": "application/json" })
        }
        try {
          const response = await fetch(`${apis[turn % howMany]?.url}/api/v1${path}`, {
            method,
            headers,
            ...(body === undefined ? {} : { body: JSON.stringify(body) })
          })
          const text = await response.text()
          return { status: response.status, text, body: JSON.parse(text) }
        } catch {
          return unanswered
        }
      }

    /** Kills a process in the middle of its work and starts another in its place. */
    const replace = async (place: number) => {
      await apis[place]?.kill()
      apis[place] = await started.start()
    }
    return { askIn, pool: statements, replace }
  }

  /** A tenant with invoices that are to be finalized, and some that cannot be. */
  const prepare = async (howMany: number) => {
    const { askIn, pool, replace } = await startApis(howMany)
    const tenant = String((await askIn()("POST", "/tenants", { name: "Tenant" })).body.data.id)
    const ask = askIn(tenant)
    assert.strictEqual((await ask("PATCH", "/invoice-series", { pattern: "N-{seq}" })).status, 200)
    const { contract, draft } = draftInvoiceClient(ask)
    // Under a single contract they would wait for it, and never for the series.
    const contracts = await Promise.all(Array.from({ length: 4 }, contract))
    const drafts = (length: number, terms?: Parameters<typeof draft>[1]) =>
      Promise.all(Array.from({ length }, (_, index) => draft(contracts[index % contracts.length] ?? "", terms)))
    const wanted = await drafts(count)
    const doomed = [
      ...(await drafts(8, { dueAt: "2020-01-01T00:00:00Z" })),
      ...(await drafts(4, { lines: [] })),
      ...(await drafts(4, { lines: [-1] }))
    ]
    return { howMany, ask, pool, replace, tenant, wanted, doomed }
  }

  type Prepared = Awaited<ReturnType<typeof prepare>>

  /** Finalizes until all are. Tells the number each was said to have, and all that was answered. */
  const finalizeAll = async ({ ask, doomed, howMany, replace, wanted }: Prepared) => {
    const told = new Map<string, string>()
    const landed = new Set<string>()
    const statuses: Array<number> = []
    const replaced: Array<Promise<void>> = []

    const finalize = async (id: string) => {
      const answer = await ask("POST", `/invoices/${id}/finalize`)
      assert.include([0, 200, 400, 503], answer.status, answer.text)
      statuses.push(answer.status)
      return answer
    }
    const attempt = async (id: string) => {
      const { body, status, text } = await finalize(id)
      if (status === 0 || status === 503) return
      if (status === 400) assert.include(text, "is FINALIZED; only DRAFT can be finalized")
      else {
        assert.isFalse(told.has(id), `${id} was finalized twice`)
        told.set(id, body.data.invoiceNumber)
      }
      landed.add(id)
      const next = replaced.length
      if (next < howMany && landed.size >= (killAt[next] ?? count)) replaced.push(replace(next))
    }
    const refuse = async () => {
      const { status, text } = await finalize(some(doomed))
      assert.notStrictEqual(status, 200, text)
      if (status === 400) assert.match(text, /"(dueAt|billableCount|totalMinor)"/)
    }

    try {
      for (let round = 1; landed.size < count; round++) {
        assert.isAtMost(round, 50, "there is no end")
        const left = wanted.filter((id) => !landed.has(id))
        const sent = left.flatMap((id) => [attempt(id), ...(Math.random() < 0.3 ? [attempt(id), refuse()] : [])])
        await Promise.all(sent)
        await Promise.all(replaced)
      }
    } finally {
      // Nobody is started any more once the test is over.
      await Promise.allSettled(replaced)
    }
    return { told, statuses, kills: replaced.length }
  }

  /** Every invoice has one number of its own and one event about it, and nothing is missing between them. */
  const prove = async ({ ask, pool, tenant, wanted }: Prepared, told: ReadonlyMap<string, string>) => {
    const series = await ask("GET", "/invoice-series")
    assert.deepStrictEqual(series.body.data, {
      pattern: "N-{seq}",
      periods: [{ period: "all", first: "N-1", last: `N-${count}`, count, voids: 0, gaps: [] }]
    })

    const { body } = await ask("GET", `/invoices?status=FINALIZED&limit=${count}`)
    const listed: ReadonlyArray<Issued> = body.data
    const issued = [...listed].sort((one, other) => placeOf(one) - placeOf(other))
    assert.deepStrictEqual(
      issued.map(({ invoiceNumber }) => invoiceNumber),
      Array.from({ length: count }, (_, index) => `N-${index + 1}`)
    )
    const ids = issued.map(({ id }) => id)
    assert.deepStrictEqual([...ids].sort(), [...wanted].sort())
    const dates = issued.map(({ issuedAt }) => issuedAt)
    assert.deepStrictEqual(dates, [...dates].sort())
    for (const { id, invoiceNumber } of issued) assert.strictEqual(told.get(id) ?? invoiceNumber, invoiceNumber, id)

    const { rows: events } = await pool.query(
      `select resource_id as id, data ->> 'invoiceNumber' as "invoiceNumber", data ->> 'issuedAt' as "issuedAt"
       from events where tenant_id = $1 and type = 'invoice.finalized'`,
      [tenant]
    )
    assert.deepStrictEqual(
      events.sort((one, other) => placeOf(one) - placeOf(other)),
      issued.map(({ id, invoiceNumber, issuedAt }) => ({ id, invoiceNumber, issuedAt }))
    )
  }

  for (const [howMany, who] of [
    [1, "a process"],
    [2, "each of two processes"]
  ] as const) {
    it(`stay whole while ${who} of the api is killed, and connections to the database are`, async () => {
      const prepared = await prepare(howMany)
      const stopTerminating = terminateRandomConnections(prepared.pool, 40)
      const { kills, statuses, told } = await finalizeAll(prepared).finally(stopTerminating)
      // Without these there was no fire.
      assert.strictEqual(kills, howMany)
      assert.isAtLeast(await stopTerminating(), 5)
      for (const status of [0, 200, 400, 503]) assert.include(statuses, status)
      await prove(prepared, told)
    })
  }
})
