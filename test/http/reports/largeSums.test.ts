import { assert, describe, it } from "vitest"
import { maxMinor } from "../../../src/domain/money/Money.ts"
import { startPayer } from "../../support/fixtures/payments.ts"
import { resourceMaker } from "../../support/fixtures/resources.ts"
import { taxRateMaker } from "../../support/fixtures/taxRates.ts"
import { useFixture } from "../../support/fixtures/useFixture.ts"
import { type Service, startService } from "../../support/servers/service.ts"

/** A client with an invoice of the largest amount in each of `count` contracts, whose sums have no bound. */
const newDebtor = async (service: Service, count: number) => {
  const payer = await startPayer(service, await service.newTenant())
  const { make } = resourceMaker(service, payer.tenant)
  const { id: rate } = await taxRateMaker(service, payer.tenant).createTaxRate({
    name: "Zero",
    percent: 0,
    category: "Z"
  })
  for (let n = 0; n < count; n++) {
    const contract = { clientId: payer.client, status: "ACTIVE", currencyCode: "EUR" }
    const { id } = await payer.draft({ contractId: (await make("contracts", contract)).id })
    await payer.add(id, { amountMinor: maxMinor, taxRateIds: [rate] })
    await payer.transition(id, "finalize")
  }
  return payer
}

const paths = (client: string) => ({
  balances: [`/clients/${client}/balance`],
  asOf: ["/reports/aging", "/reports/aging/totals"],
  from: ["/reports/revenue", "/reports/revenue?by=month", "/reports/revenue/clients", "/reports/tax"],
  to: [`/clients/${client}/statement`, `/clients/${client}/statement/pdf`]
})

describe("Balances and reports", () => {
  const at = useFixture(startService)

  it("show the largest amount exactly", async () => {
    const { call, client } = await newDebtor(at(), 1)
    const { asOf, balances, from, to } = paths(client)
    for (const path of [...balances, ...asOf, ...from, ...to.slice(0, 1)]) {
      const { status, text } = await call("GET", path)
      assert.strictEqual(status, 200, path)
      assert.include(text, `${maxMinor}`, path)
    }
  })

  it("with sums beyond what a JSON number holds are rejected rather than rounded", async () => {
    const { call, client } = await newDebtor(at(), 2)
    for (const [field, rejected] of Object.entries(paths(client))) {
      for (const path of rejected) {
        const { body, status, text } = await call("GET", path)
        assert.strictEqual(status, 400, `${path}: ${text}`)
        const message = `leads to a sum beyond ${maxMinor}, which cannot be sent exactly`
        assert.deepStrictEqual(body.details, [{ field, constraint: "max", message }], path)
      }
    }
  })
})
