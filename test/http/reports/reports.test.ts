import fc from "fast-check"
import { assert, describe, it } from "vitest"
import { journalKinds } from "../../../src/domain/journal/JournalEntry.ts"
import { addDays, localDateOf, startOfLocalDay } from "../../../src/domain/locale/TimeZone.ts"
import { readExpectedReports } from "../../support/assertions/expectedReports.ts"
import { moveHistory, startHistory } from "../../support/fixtures/journalHistory.ts"
import { useFixture } from "../../support/fixtures/useFixture.ts"
import { startServiceWithPool } from "../../support/servers/serviceWithPool.ts"

const historyDays = 130

describe("Reports", { timeout: 240_000 }, () => {
  const fixture = useFixture(startServiceWithPool)

  const kindsOf = async (tenant: string) =>
    (await fixture().pool.query("select distinct kind from journal_entries where tenant_id = $1", [tenant])).rows

  /** A tenant in a time zone with a random history of every kind of entry, which ended yesterday. */
  const startTenant = async (timeZone: string, seed: number, operationCount: number) => {
    const { pool, service } = fixture()
    const tenant = await service.newTenant()
    const patched = await service.api("PATCH", `/tenants/${tenant}`, { as: "owner", body: { timeZone } })
    assert.strictEqual(patched.status, 200, patched.text)
    const random = fc.sample(fc.noBias(fc.nat(2 ** 30)), { numRuns: 20_000, seed })
    const nextInt = (min: number, max: number) => min + ((random.pop() ?? 0) % (max - min + 1))
    const history = await startHistory(service, tenant, nextInt)
    await history.run(operationCount)
    for (let rounds = 0; (await kindsOf(tenant)).length < journalKinds.length; rounds++) {
      assert.isBelow(rounds, 50, `seed ${seed} does not book every kind`)
      await history.run(10)
    }
    const today = localDateOf(new Date().toISOString(), timeZone)
    await moveHistory(pool, tenant, timeZone, startOfLocalDay(today, timeZone), historyDays)
    const get = async (path: string) => {
      const { body, status, text } = await service.api("GET", path, { as: "owner", tenant })
      assert.strictEqual(status, 200, text)
      return body.data
    }
    return { ...history, get, tenant, today, timeZone }
  }
  type Tenant = Awaited<ReturnType<typeof startTenant>>

  const withoutName = (rows: ReadonlyArray<{ readonly clientName: string }>) =>
    rows.map(({ clientName, ...row }) => row)

  const periodsOf = (today: string) => [
    { from: addDays(today, -historyDays - 2), to: today },
    { from: addDays(today, -70), to: addDays(today, -30) },
    { from: addDays(today, -41), to: addDays(today, -41) },
    { from: addDays(today, -20), to: addDays(today, -1) }
  ]

  /** Every report of a tenant, by its path. */
  const readAll = async ({ get, payers, today }: Tenant) => {
    const days = [1, 15, 40, 75, 110].map((ago) => addDays(today, -ago))
    const paths = [
      ...days.flatMap((day) => [`/reports/aging?asOf=${day}`, `/reports/aging/totals?asOf=${day}`]),
      ...periodsOf(addDays(today, -1)).flatMap(({ from, to }) => {
        const query = `from=${from}&to=${to}`
        const reports = ["revenue?", "revenue?by=month&", "revenue/clients?", "tax?"].map(
          (name) => `/reports/${name}${query}`
        )
        return [...reports, ...payers.map(({ client }) => `/clients/${client}/statement?${query}`)]
      })
    ]
    const all: Record<string, unknown> = {}
    for (const path of paths) all[path] = await get(path)
    return all
  }

  it.each(["America/New_York", "Asia/Kolkata"])(
    "equal the sum of the entries of the journal in %s",
    async (timeZone) => {
      const seed = Date.now() % 2 ** 31
      const tenant = await startTenant(timeZone, seed, 90)
      const { get, payers, today } = tenant
      const expected = await readExpectedReports(fixture().pool, tenant.tenant, timeZone)
      const note = `seed ${seed}`
      for (let ago = 0; ago <= historyDays; ago += 13) {
        const day = addDays(today, -ago)
        assert.deepStrictEqual(withoutName(await get(`/reports/aging?asOf=${day}`)), expected.aging(day), note)
        assert.deepStrictEqual(await get(`/reports/aging/totals?asOf=${day}`), expected.agingTotals(day), note)
      }
      for (const { from, to } of periodsOf(today)) {
        const query = `from=${from}&to=${to}`
        assert.deepStrictEqual(await get(`/reports/revenue?${query}`), expected.revenue(from, to), note)
        assert.deepStrictEqual(await get(`/reports/revenue?by=month&${query}`), expected.revenueByMonth(from, to), note)
        const byClient = withoutName(await get(`/reports/revenue/clients?${query}`))
        assert.sameDeepMembers(byClient, expected.revenueByClient(from, to), note)
        assert.deepStrictEqual(await get(`/reports/tax?${query}`), expected.taxes(from, to), note)
        for (const { client } of payers) {
          const statement = await get(`/clients/${client}/statement?${query}`)
          assert.deepStrictEqual(statement, expected.statement(client, from, to), note)
        }
      }
    }
  )

  it("of the last day agree with the balances of the clients", async () => {
    const { get, payers, today } = await startTenant("UTC", 7, 60)
    const rows = new Map<string, { openMinor: number; unusedMinor: number; currencyCode: string }>()
    for (const row of await get("/reports/aging")) rows.set(row.client, row)
    for (const { client } of payers) {
      const { balances } = await get(`/clients/${client}/balance`)
      const aging = rows.get(client)
      assert.deepStrictEqual(
        balances.map(({ openMinor, unusedMinor }: { openMinor: number; unusedMinor: number }) => [
          openMinor,
          unusedMinor
        ]),
        aging === undefined ? [] : [[aging.openMinor, aging.unusedMinor]]
      )
      const { currencies } = await get(`/clients/${client}/statement?from=${today}&to=${today}`)
      const closing = currencies.map(({ closingMinor }: { closingMinor: number }) => closingMinor)
      const expected = aging === undefined ? 0 : aging.openMinor - aging.unusedMinor
      assert.deepStrictEqual(closing, expected === 0 ? [] : [expected])
    }
  })

  it("of past days stay the same after everything that is booked today", async () => {
    const tenant = await startTenant("Europe/Berlin", 11, 60)
    const before = await readAll(tenant)
    const openToday = await tenant.get("/reports/aging/totals")
    await tenant.run(40)
    assert.notDeepEqual(await tenant.get("/reports/aging/totals"), openToday)
    assert.deepStrictEqual(await readAll(tenant), before)
  })
})
