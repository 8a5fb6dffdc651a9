import { afterEach, assert, beforeAll, describe, it } from "vitest"
import { assertAccounts } from "../../support/assertions/settledAccounts.ts"
import { caseCount } from "../../support/caseCount.ts"
import { makePayingClient, type PayingClient, type SettlementCall } from "../../support/fixtures/payingClient.ts"
import { integerBetween, makeRandom } from "../../support/fixtures/randomInvoices.ts"
import { type Accepted, readJournal, toHistory } from "../../support/fixtures/settlementHistory.ts"
import { settlementRequests } from "../../support/fixtures/settlementRequests.ts"
import { type ApiProcesses, bundleApi, prepareApiProcesses } from "../../support/servers/apiProcesses.ts"
import { openPool } from "../../support/servers/database.ts"
import { startKillableApis } from "../../support/servers/killableApis.ts"
import { finalizeInvoice } from "../../support/settlement/invoiceOperations.ts"
import { creditInvoiceByNote } from "../../support/settlement/noteOperations.ts"
import { findRefusal, textOf } from "../../support/settlement/operation.ts"
import { allocatePayment, payInvoice, recordPayment } from "../../support/settlement/paymentOperations.ts"

const clientCount = 3
const invoicesPerClient = 5
const operationCount = caseCount(60, 300)
/** After how many operations a process is killed. Another one takes its place. */
const killAt = [0.3, 0.6].map((share) => Math.round(share * operationCount))
/** How many operations run at a time. */
const concurrency = 16
/** Operations that others need. */
const needed = [finalizeInvoice, recordPayment, creditInvoiceByNote, allocatePayment, payInvoice].map(
  ({ name }) => name
)

describe("Settlement", { timeout: 180_000 }, () => {
  let processes: ApiProcesses | undefined
  beforeAll(bundleApi)
  afterEach(() => processes?.stopAll())

  it("has the accounts of the model after all accepted requests, while processes are killed", async () => {
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
    const pick = <A>(items: ReadonlyArray<A>) => items[nextInt(0, items.length - 1)] ?? assert.fail("nothing to pick")
    const netAmounts = () => Array.from({ length: invoicesPerClient }, () => nextInt(100, 2000))
    const clients: Array<PayingClient> = []
    const accepted = new Map<PayingClient, Array<Accepted>>()
    const addClient = async () => {
      const client = await makePayingClient(call, netAmounts())
      accepted.set(client, [])
      clients.push(client)
      return client
    }
    await Promise.all(Array.from({ length: clientCount }, addClient))

    const requests = settlementRequests(call, nextInt)
    const frequent = requests.filter(({ operation }) => needed.includes(operation))
    const kills: Array<Promise<void>> = []
    const missing = new Set(requests.map(({ operation }) => operation))
    const send = async (client: PayingClient, choices: typeof requests) => {
      const request = pick(choices).random(client)
      const answer = await request?.send()
      if (request === undefined || answer === undefined) return
      accepted.get(client)?.push({ request, answer })
      missing.delete(request.operation)
    }
    const weighted = [...requests, ...frequent, ...frequent]
    let started = 0
    const worker = async () => {
      while (started < operationCount) {
        started += 1
        if (started >= (killAt[kills.length] ?? Number.POSITIVE_INFINITY)) kills.push(apis.replaceOne())
        await send(pick(clients), weighted)
      }
    }
    await Promise.all(Array.from({ length: concurrency }, worker))
    await Promise.all(kills)
    // Every run has all operations. A client with nothing but drafts can still have each of them.
    while (missing.size > 0) {
      const client = await addClient()
      const wanted = () => requests.filter(({ operation }) => missing.has(operation))
      for (let n = 0; n < 100 && missing.size > 0; n++) await send(client, [...weighted, ...wanted()])
    }
    assert.lengthOf(kills, killAt.length)
    assert.isAbove(apis.repeated(), 0, "requests to killed processes were repeated")

    const pool = openPool(processes.database.url)
    for (const [client, all] of accepted) {
      const journal = await readJournal(pool, tenant, client.drafts.client)
      const history = toHistory(all, journal)
      const accounts = history.reduce((current, operation, index) => {
        const refusal = findRefusal(operation, current)
        assert.isUndefined(
          refusal,
          `seed ${seed}, the model refuses the last of\n${textOf(history.slice(0, index + 1))}`
        )
        return operation.effect(current)
      }, client.drafts)
      await assertAccounts(call, accounts, journal)
    }
    await pool.end()
    const noteCount = clients.reduce((count, { notes }) => count + notes.length, 0)
    const invoicePeriod = (await call("GET", "/invoice-series")).body.data.periods[0]
    const notePeriod = (await call("GET", "/credit-note-series")).body.data.periods[0]
    assert.deepStrictEqual([invoicePeriod.gaps, notePeriod.gaps, notePeriod.count], [[], [], noteCount])
  })
})
