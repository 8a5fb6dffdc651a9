import { afterEach, assert, beforeAll, describe, it } from "vitest"
import { SettlementOracle } from "../../support/assertions/settlementOracle.ts"
import { caseCount } from "../../support/caseCount.ts"
import type { AllocationBody, CreditNoteBody, PaymentBody } from "../../support/fixtures/payments.ts"
import { integerBetween, makeRandom } from "../../support/fixtures/randomInvoices.ts"
import {
  makePayingClient,
  makeSettlementOperations,
  type PayingClient,
  type SettlementCall
} from "../../support/fixtures/settlementOperations.ts"
import { type ApiProcesses, bundleApi, prepareApiProcesses } from "../../support/servers/apiProcesses.ts"
import { openPool } from "../../support/servers/database.ts"
import { startKillableApis } from "../../support/servers/killableApis.ts"

const clientCount = 3
const operationCount = caseCount(120, 300)
/** After how many operations a process is killed. Another one takes its place. */
const killAt = [0.3, 0.6].map((share) => Math.round(share * operationCount))
/** How many operations run at a time. */
const concurrency = 16

interface InvoiceState {
  readonly status: string
  readonly totalMinor: number
  readonly paidMinor: number
  readonly creditedMinor: number
  readonly writtenOffMinor: number
  readonly balanceMinor: number
}

const sumOf = (allocations: ReadonlyArray<AllocationBody>) =>
  allocations.reduce((sum, { amountMinor }) => sum + amountMinor, 0)

interface Settled {
  readonly call: SettlementCall
  readonly oracle: SettlementOracle
  readonly seed: number
  readonly payments: ReadonlyArray<PaymentBody>
  readonly notes: ReadonlyArray<CreditNoteBody>
}

const assertPayments = ({ oracle, payments, seed }: Settled) => {
  for (const { id, refundedMinor, unallocatedMinor } of payments) {
    const expected = [oracle.unallocatedMinor(id), oracle.payments.get(id)?.refundedMinor]
    assert.deepStrictEqual([unallocatedMinor, refundedMinor], expected, `seed ${seed}`)
  }
}

const assertNotes = ({ notes, oracle, seed }: Settled) => {
  assert.sameMembers(
    notes.map(({ id }) => id),
    [...oracle.notes.keys()]
  )
  for (const { allocations, id, invoice, refundedMinor, totalMinor, unallocatedMinor } of notes) {
    const known = oracle.notes.get(id) ?? assert.fail(id)
    assert.deepStrictEqual([totalMinor, refundedMinor], [known.totalMinor, known.refundedMinor], `seed ${seed}`)
    assert.strictEqual(sumOf(allocations) + unallocatedMinor + refundedMinor, totalMinor, `seed ${seed}`)
    const sumsOf = (all: ReadonlyArray<AllocationBody>) => {
      const others = all.filter((one) => one.invoice !== invoice)
      return Object.fromEntries(
        others.map((one) => [one.invoice, sumOf(others.filter((other) => other.invoice === one.invoice))])
      )
    }
    assert.deepStrictEqual(sumsOf(allocations), sumsOf(known.allocations), `seed ${seed}`)
  }
}

/** Returns what is open of the invoice. */
const assertInvoice = async ({ call, notes, oracle, seed }: Settled, id: string) => {
  const invoice = (await call("GET", `/invoices/${id}`)).body.data as InvoiceState
  const [paidMinor, writtenOffMinor] = [oracle.paidMinor(id), oracle.writtenOff.get(id) ?? 0]
  const creditedMinor = sumOf(notes.flatMap(({ allocations }) => allocations.filter((one) => one.invoice === id)))
  const isVoid = oracle.voided.has(id)
  const balanceMinor = isVoid ? 0 : invoice.totalMinor - paidMinor - creditedMinor - writtenOffMinor
  assert.deepInclude(invoice, { paidMinor, creditedMinor, writtenOffMinor, balanceMinor }, `${id}, seed ${seed}`)
  assert.isAtLeast(balanceMinor, 0)
  const own = notes.filter((note) => note.invoice === id)
  assert.isAtMost(
    own.reduce((sum, { totalMinor }) => sum + totalMinor, 0),
    invoice.totalMinor
  )
  // Nothing is left of its own notes while the invoice is open.
  if (balanceMinor > 0) assert.isEmpty(own.filter(({ unallocatedMinor }) => unallocatedMinor > 0))
  if (isVoid) assert.strictEqual(invoice.status, "VOID")
  else if (invoice.status !== "DRAFT") assert.strictEqual(invoice.status, balanceMinor === 0 ? "PAID" : "FINALIZED")
  return invoice.status === "FINALIZED" ? balanceMinor : 0
}

const assertClient = async (settled: Settled, client: PayingClient) => {
  let openMinor = 0
  for (const id of client.invoices) openMinor += await assertInvoice(settled, id)
  const unusedMinor = [...settled.payments, ...settled.notes]
    .filter((source) => source.client === client.id)
    .reduce((sum, one) => sum + one.unallocatedMinor, 0)
  const { balances } = (await settled.call("GET", `/clients/${client.id}/balance`)).body.data
  const expected = { currencyCode: "EUR", openMinor, overdueMinor: 0, unusedMinor }
  assert.deepStrictEqual(balances, openMinor + unusedMinor === 0 ? [] : [expected])
}

const differencesFromJournal = `
  select
     (select count(*)::int from invoices left join lateral (
        select coalesce(sum(invoice_minor), 0) as open,
          -coalesce(sum(invoice_minor) filter (where payment_id is not null), 0) as paid,
          -coalesce(sum(invoice_minor) filter (where credit_note_id is not null), 0) as credited
        from journal_entries e where e.tenant_id = invoices.tenant_id and e.invoice_id = invoices.id) journal on true
      where tenant_id = $1 and (paid <> paid_minor or credited <> credited_minor or open <> case when status in ('FINALIZED', 'PAID')
        then total_minor - paid_minor - credited_minor - written_off_minor else 0 end)) as invoices,
     (select count(*)::int from payments left join lateral (
        select coalesce(sum(credit_minor), 0) as unused
        from journal_entries e where e.tenant_id = payments.tenant_id and e.payment_id = payments.id) journal on true
      where tenant_id = $1 and unused <> unallocated_minor) as payments`

describe("Settlement", { timeout: 180_000 }, () => {
  let processes: ApiProcesses | undefined
  beforeAll(bundleApi)
  afterEach(() => processes?.stopAll())

  it("adds up to the journal and to what was requested, while processes are killed", async () => {
    processes = await prepareApiProcesses({
      DATABASE_POOL: "8",
      MAX_QUEUED_REQUESTS_PER_CALLER: "1000",
      MAX_QUEUED_REQUESTS: "1000"
    })
    const apis = await startKillableApis(processes)
    const seed = Date.now() % 2 ** 31
    const random = makeRandom(seed)
    const nextInt = (min: number, max: number) => integerBetween(random, min, max)
    const tenant = String((await apis.call("POST", "/tenants", undefined, { name: "Tenant" })).body.data.id)
    const call: SettlementCall = (method, path, body) => apis.call(method, path, tenant, body)
    const clients = await Promise.all(Array.from({ length: clientCount }, () => makePayingClient(call, nextInt)))
    const oracle = new SettlementOracle()
    const operations = makeSettlementOperations(call, oracle, nextInt)
    const pick = <A>(items: ReadonlyArray<A>) => items[nextInt(0, items.length - 1)] ?? assert.fail("nothing to pick")

    const all = Object.keys(operations) as ReadonlyArray<keyof typeof operations> // the keys of a literal
    const more = ["finalize", "finalize", "record", "record", "allocate", "pay", "credit", "credit"] as const
    const weighted = [...more, ...all]
    const accepted = new Set<string>()
    const run = async (client: PayingClient, names: ReadonlyArray<(typeof all)[number]>) => {
      const name = pick(names)
      if (await operations[name](client)) accepted.add(name)
    }
    const kills: Array<Promise<void>> = []
    let started = 0
    const worker = async () => {
      while (started < operationCount) {
        started += 1
        if (started >= (killAt[kills.length] ?? Number.POSITIVE_INFINITY)) kills.push(apis.replaceOne())
        await run(pick(clients), weighted)
      }
    }
    await Promise.all(Array.from({ length: concurrency }, worker))
    await Promise.all(kills)
    assert.lengthOf(kills, killAt.length)
    assert.isAbove(apis.repeated(), 0, "requests to killed processes were repeated")
    // Every run has all operations. A client with nothing but drafts can still have each of them.
    const missing = () => all.filter((name) => !accepted.has(name))
    while (missing().length > 0) {
      const client = await makePayingClient(call, nextInt)
      clients.push(client)
      for (let n = 0; n < 100 && missing().length > 0; n++) await run(client, [...weighted, ...missing()])
    }

    const payments = (await call("GET", "/payments?limit=200")).body.data as ReadonlyArray<PaymentBody>
    const notes = (await call("GET", "/credit-notes?status=FINALIZED&limit=200")).body
      .data as ReadonlyArray<CreditNoteBody>
    // `pay` recorded one for each success, of the whole balance.
    const unnamed = payments.filter(({ id }) => !oracle.payments.has(id))
    assert.deepStrictEqual(unnamed.map(({ allocations }) => allocations[0]?.invoice).sort(), oracle.paid.sort())
    for (const payment of unnamed) oracle.recordPayment(payment)

    const settled = { call, oracle, seed, payments, notes }
    assertPayments(settled)
    assertNotes(settled)
    for (const client of clients) await assertClient(settled, client)
    const invoicePeriod = (await call("GET", "/invoice-series")).body.data.periods[0]
    const notePeriod = (await call("GET", "/credit-note-series")).body.data.periods[0]
    assert.deepStrictEqual([invoicePeriod.gaps, notePeriod.gaps, notePeriod.count], [[], [], notes.length])
    const pool = openPool(processes.database.url)
    const { rows } = await pool.query(differencesFromJournal, [tenant])
    await pool.end()
    assert.deepStrictEqual(rows, [{ invoices: 0, payments: 0 }], "the journal adds up to every sum")
  })
})
