import { assert, describe, it } from "vitest"
import { assertAccounts } from "../../support/assertions/settledAccounts.ts"
import { caseCount } from "../../support/caseCount.ts"
import { makePayingClient, type PayingClient, type SettlementCall } from "../../support/fixtures/payingClient.ts"
import { integerBetween, makeRandom } from "../../support/fixtures/randomInvoices.ts"
import { readJournal, toHistory } from "../../support/fixtures/settlementHistory.ts"
import { newNote, newPayment, settlementRequests } from "../../support/fixtures/settlementRequests.ts"
import { useFixture } from "../../support/fixtures/useFixture.ts"
import { startServiceWithTenant } from "../../support/servers/serviceWithPool.ts"
import type { Accounts } from "../../support/settlement/accounts.ts"
import { type Call, findRefusal, textOf } from "../../support/settlement/operation.ts"
import { amounts, credits } from "../../support/settlement/search.ts"

/** How many sequences, and of how many requests. */
const [sequenceCount, requestCount] = [caseCount(2, 30), 40]

describe("A sequence of settlement", { timeout: 180_000 }, () => {
  const fixture = useFixture(startServiceWithTenant)

  it("is accepted and refused as by the model, and leaves its accounts", async () => {
    const { pool, service, tenant } = fixture()
    const call: SettlementCall = (method, path, body) => service.api(method, path, { as: "owner", tenant, body })
    const seed = Date.now() % 2 ** 31
    const random = makeRandom(seed)
    const nextInt = (min: number, max: number) => integerBetween(random, min, max)
    const pick = <A>(items: ReadonlyArray<A>) => items[nextInt(0, items.length - 1)] ?? assert.fail("nothing to pick")
    const requests = settlementRequests(call, nextInt)

    const next = (client: PayingClient, accounts: Accounts) => {
      const choices = {
        invoices: client.invoices,
        payments: client.payments,
        newPayments: [newPayment],
        notes: client.notes.map(({ id }) => id),
        newNotes: [newNote],
        amounts,
        credits
      }
      const all = requests.flatMap((one) => one.all(client, choices, accounts))
      const allowed = all.filter(({ toCall }) => findRefusal(toCall(), accounts) === undefined)
      // Chance alone would have most requests refused, and would choose the operations with most targets.
      const some = pick([all, allowed].filter((choice) => choice.length > 0))
      const operation = pick([...new Set(some.map((request) => request.operation))])
      return pick(some.filter((request) => request.operation === operation))
    }

    const run = async () => {
      const client = await makePayingClient(call, new Array(6).fill(100))
      let accounts = client.drafts
      let journal = await readJournal(pool, tenant, accounts.client)
      const calls: Array<Call> = []
      for (let n = 0; n < requestCount; n++) {
        const request = next(client, accounts)
        const refusal = findRefusal(request.toCall(), accounts)
        const answer = await request.send()
        const opinion = refusal === undefined ? "accepts" : `refuses (${refusal})`
        const sequence = `seed ${seed}, the model ${opinion} the last of\n${textOf([...calls, request.toCall()])}`
        assert.strictEqual(answer === undefined, refusal !== undefined, sequence)
        if (answer === undefined) continue
        const booked = await readJournal(pool, tenant, accounts.client)
        const done = toHistory([{ request, answer }], booked.slice(journal.length))
        accounts = done.reduce((current, operation) => operation.effect(current), accounts)
        journal = booked
        calls.push(...done)
      }
      await assertAccounts(call, accounts, journal)
    }
    for (let n = 0; n < sequenceCount; n++) await run()
  })
})
