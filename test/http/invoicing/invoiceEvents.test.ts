import { assert, describe, it } from "vitest"
import { type BillableBody, invoiceClient } from "../../support/fixtures/invoices.ts"
import { resourceMaker } from "../../support/fixtures/resources.ts"
import { useFixture } from "../../support/fixtures/useFixture.ts"
import type { ServiceResponse } from "../../support/servers/service.ts"
import { startServiceWithPool } from "../../support/servers/serviceWithPool.ts"

interface Recorded {
  readonly type: string
  readonly sequence: number
  readonly data: string
  readonly client_id: string | null
  readonly transaction: string
}

const shownBy = ({ text }: ServiceResponse) => text.slice('{"data":'.length, -1)
const moves = ["finalize", "pay", "void"] as const

describe("events of invoicing", () => {
  const at = useFixture(startServiceWithPool)

  const eventsOf = async (resource: string) => {
    const { rows } = await at().pool.query<Recorded>(
      `select type, sequence, data::text as data, client_id, xmin::text as transaction
       from events where resource_id = $1 order by sequence`,
      [resource]
    )
    return rows
  }

  /** A draft of a known client's contract. */
  const stage = async () => {
    const tenant = await at().service.newTenant()
    const invoicing = invoiceClient(at().service, tenant)
    const client = (await resourceMaker(at().service, tenant).make("clients")).id
    const { id: contractId } = await invoicing.contract({ clientId: client })
    const created = await invoicing.call("POST", "/invoices", { contractId })
    const id = String(created.body.data.id)
    /** The invoice as the API shows it now. */
    const shown = async () => shownBy(await invoicing.call("GET", `/invoices/${id}`))
    return { ...invoicing, client, contractId, created, id, shown }
  }

  /** Every event of a resource, in order and without a gap, each with what was shown and the client it is about. */
  const assertTold = async (
    resource: string,
    client: string,
    told: ReadonlyArray<readonly [type: string, data: string | undefined]>
  ) => {
    const events = await eventsOf(resource)
    assert.deepStrictEqual(
      events.map(({ client_id, data, sequence, type }) => ({ type, sequence, client_id, data })),
      told.map(([type, data], n) => ({ type, sequence: n + 1, client_id: client, data: data ?? "" }))
    )
    return events
  }

  it("tell of an invoice everything it goes through, as the API showed it", async () => {
    const { add, call, client, created, id, shown, tryMove } = await stage()
    const told: Array<readonly [string, string]> = [["invoice.created", shownBy(created)]]
    const updated = async () => told.push(["invoice.updated", await shown()])

    told.push(["invoice.updated", shownBy(await call("PATCH", `/invoices/${id}`, { dueAt: "2031-01-31T00:00:00Z" }))])
    const [line] = await add(id, { quantity: 1.005 }, { amountMinor: -1 })
    await updated()
    await call("PATCH", `/billables/${line?.id}`, { quantity: 2, metadata: { a: "1" } })
    await updated()
    await call("PATCH", `/billables/${line?.id}`, { name: "The total stays" })
    await updated()
    await call("DELETE", `/billables/${line?.id}`)
    await updated()
    await add(id, {})
    await updated()
    told.push(["invoice.finalized", shownBy(await tryMove(id, "finalize"))])
    told.push(["invoice.paid", shownBy(await tryMove(id, "pay"))])
    await assertTold(id, client, told)
    assert.strictEqual(told.at(-1)?.[1], await shown())
  })

  it("tell of an invoice that is void", async () => {
    const { client, created, id, tryMove } = await stage()
    const voided = shownBy(await tryMove(id, "void"))
    await assertTold(id, client, [
      ["invoice.created", shownBy(created)],
      ["invoice.voided", voided]
    ])
    assert.deepInclude(JSON.parse(voided), { status: "VOID" })
  })

  it("tell of a line from when it is added until it is deleted", async () => {
    const { call, client, id, tryAdd } = await stage()
    const added = await tryAdd(
      id,
      { quantity: 1e-12, metadata: { b: "1", a: "\u2028" }, order: 0 },
      { referenceType: "work", referenceId: "1" }
    )
    const [first, second]: ReadonlyArray<BillableBody> = added.body.data
    const path = `/billables/${first?.id}`
    const read = shownBy(await call("GET", path))
    assert.strictEqual(added.text, `{"data":[${read},${shownBy(await call("GET", `/billables/${second?.id}`))}]}`)
    const changed = shownBy(await call("PATCH", path, { quantity: 0.5, description: "Half", order: null }))
    assert.strictEqual((await call("DELETE", path)).status, 204)
    await assertTold(first?.id ?? "", client, [
      ["billable.created", read],
      ["billable.updated", changed],
      ["billable.deleted", changed]
    ])
    await assertTold(second?.id ?? "", client, [["billable.created", JSON.stringify(second)]])
  })

  it("tell of every line that goes with its draft, and of the draft", async () => {
    const { add, call, client, created, id, shown } = await stage()
    const [one, other] = await add(id, {}, {})
    const full = await shown()
    const changed = shownBy(await call("PATCH", `/billables/${one?.id}`, { order: 3 }))
    const last = await shown()
    assert.strictEqual((await call("DELETE", `/invoices/${id}`)).status, 204)
    const ofInvoice = await assertTold(id, client, [
      ["invoice.created", shownBy(created)],
      ["invoice.updated", full],
      ["invoice.updated", last],
      ["invoice.deleted", last]
    ])
    const ofOne = await assertTold(one?.id ?? "", client, [
      ["billable.created", JSON.stringify(one)],
      ["billable.updated", changed],
      ["billable.deleted", changed]
    ])
    const ofOther = await assertTold(other?.id ?? "", client, [
      ["billable.created", JSON.stringify(other)],
      ["billable.deleted", JSON.stringify(other)]
    ])
    const ends = [ofInvoice, ofOne, ofOther].map((events) => events.at(-1)?.transaction)
    assert.strictEqual(new Set(ends).size, 1, "all in one transaction")
  })

  it("are written by the transaction that does what they tell of", async () => {
    const { add, id, move } = await stage()
    const writerOf = async (table: string, row: string) => {
      const { rows } = await at().pool.query(`select xmin::text as transaction from ${table} where id = $1`, [row])
      return rows[0]?.transaction
    }
    const newest = async (row: string) => (await eventsOf(row)).at(-1)?.transaction
    const [line] = await add(id, {})
    assert.strictEqual(await newest(line?.id ?? ""), await writerOf("billables", line?.id ?? ""))
    assert.strictEqual(await newest(id), await newest(line?.id ?? ""))
    for (const step of ["finalize", "void"]) {
      await move(id, step)
      assert.strictEqual(await newest(id), await writerOf("invoices", id), step)
    }
  })

  it("count without a gap under many writers, and end with what is there", async () => {
    const { call, client, id, shown, tryAdd } = await stage()
    await Promise.all([
      ...Array.from({ length: 8 }, (_, n) => tryAdd(id, { amountMinor: n })),
      ...Array.from({ length: 4 }, (_, n) => call("PATCH", `/invoices/${id}`, { dueAt: `203${n}-01-01T00:00:00Z` }))
    ])
    const events = await eventsOf(id)
    assert.deepStrictEqual(
      events.map(({ sequence }) => sequence),
      Array.from({ length: 13 }, (_, n) => n + 1)
    )
    assert.isTrue(events.every(({ client_id }) => client_id === client))
    assert.strictEqual(events.at(-1)?.data, await shown())
    const { rows } = await at().pool.query<{ count: number }>(
      "select count(*)::int from events where type = 'billable.created' and data->>'invoice' = $1 and sequence = 1",
      [id]
    )
    assert.strictEqual(rows[0]?.count, 8)
  })

  it("tell nothing of what was refused", async () => {
    const { add, call, id, tenant, tryAdd, tryMove } = await stage()
    const [line] = await add(id, { amountMinor: -5 })
    const stale = { "if-match": '"stale"' }
    const count = async () => {
      const { rows } = await at().pool.query("select count(*)::int from events where tenant_id = $1", [tenant])
      return rows[0]?.count
    }
    const before = await count()
    const refused: ReadonlyArray<readonly [number, Promise<ServiceResponse>]> = [
      [400, tryAdd(id, {}, { currencyCode: "USD" })],
      [400, tryAdd(id, { amountMinor: 9007199254740991, quantity: 2 })],
      [400, call("PATCH", `/billables/${line?.id}`, { currencyCode: "USD" })],
      [400, call("PATCH", `/invoices/${id}`, { dueAt: "soon" })],
      [400, tryMove(id, "finalize")],
      [400, tryMove(id, "pay")],
      [412, call("PATCH", `/invoices/${id}`, { dueAt: null }, stale)],
      [412, call("DELETE", `/invoices/${id}`, undefined, stale)],
      [412, call("DELETE", `/billables/${line?.id}`, undefined, stale)],
      ...moves.map((move) => [412, call("POST", `/invoices/${id}/${move}`, undefined, stale)] as const),
      [404, call("POST", "/invoices/inv_none/void")]
    ]
    for (const [status, answer] of refused) assert.strictEqual((await answer).status, status, (await answer).text)
    assert.strictEqual(await count(), before)
  })
})
