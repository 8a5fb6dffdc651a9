import { assert, describe, it } from "vitest"
import { type BillableBody, invoiceClient } from "../../support/fixtures/invoices.ts"
import { resourceMaker } from "../../support/fixtures/resources.ts"
import { useFixture } from "../../support/fixtures/useFixture.ts"
import type { ServiceResponse } from "../../support/servers/service.ts"
import { startServiceWithPool } from "../../support/servers/serviceWithPool.ts"

interface EventRow {
  readonly type: string
  readonly sequence: number
  readonly data: string
  readonly client_id: string | null
  readonly transaction: string
}

const dataTextOf = ({ text }: ServiceResponse) => text.slice('{"data":'.length, -1)
const transitions = ["finalize", "pay", "void"] as const

describe("Events of invoices and billables", () => {
  const fixture = useFixture(startServiceWithPool)

  const eventsOf = async (resource: string) => {
    const { rows } = await fixture().pool.query<EventRow>(
      `select type, sequence, data::text as data, client_id, xmin::text as transaction
       from events where resource_id = $1 order by sequence`,
      [resource]
    )
    return rows
  }

  /** Creates a draft invoice of a client. */
  const createDraft = async () => {
    const tenant = await fixture().service.newTenant()
    const invoices = invoiceClient(fixture().service, tenant)
    const client = (await resourceMaker(fixture().service, tenant).make("clients")).id
    const { id: contractId } = await invoices.contract({ clientId: client })
    const created = await invoices.call("POST", "/invoices", { contractId })
    const id = String(created.body.data.id)
    /** The current invoice as text of the response. */
    const readText = async () => dataTextOf(await invoices.call("GET", `/invoices/${id}`))
    return { ...invoices, client, contractId, created, id, readText }
  }

  /** Asserts type and data of every event of a resource, its client, and consecutive sequence numbers. */
  const assertEvents = async (
    resource: string,
    client: string,
    expected: ReadonlyArray<readonly [type: string, data: string | undefined]>
  ) => {
    const events = await eventsOf(resource)
    assert.deepStrictEqual(
      events.map(({ client_id, data, sequence, type }) => ({ type, sequence, client_id, data })),
      expected.map(([type, data], n) => ({ type, sequence: n + 1, client_id: client, data: data ?? "" }))
    )
    return events
  }

  it("record every change of an invoice with the data of the response", async () => {
    const { add, call, client, created, id, readText, tryTransition } = await createDraft()
    const expected: Array<readonly [string, string]> = [["invoice.created", dataTextOf(created)]]
    const expectUpdate = async () => expected.push(["invoice.updated", await readText()])

    expected.push([
      "invoice.updated",
      dataTextOf(await call("PATCH", `/invoices/${id}`, { dueAt: "2031-01-31T00:00:00Z" }))
    ])
    const [line] = await add(id, { quantity: 1.005 }, { amountMinor: -1 })
    await expectUpdate()
    await call("PATCH", `/billables/${line?.id}`, { quantity: 2, metadata: { a: "1" } })
    await expectUpdate()
    await call("PATCH", `/billables/${line?.id}`, { name: "The total stays" })
    await expectUpdate()
    await call("DELETE", `/billables/${line?.id}`)
    await expectUpdate()
    await add(id, {})
    await expectUpdate()
    expected.push(["invoice.finalized", dataTextOf(await tryTransition(id, "finalize"))])
    expected.push(["invoice.paid", dataTextOf(await tryTransition(id, "pay"))])
    await assertEvents(id, client, expected)
    assert.strictEqual(expected.at(-1)?.[1], await readText())
  })

  it("record that an invoice is voided", async () => {
    const { client, created, id, tryTransition } = await createDraft()
    const voided = dataTextOf(await tryTransition(id, "void"))
    await assertEvents(id, client, [
      ["invoice.created", dataTextOf(created)],
      ["invoice.voided", voided]
    ])
    assert.deepInclude(JSON.parse(voided), { status: "VOID" })
  })

  it("record the creation, change and deletion of a billable", async () => {
    const { call, client, id, tryAdd } = await createDraft()
    const added = await tryAdd(
      id,
      { quantity: 1e-12, metadata: { b: "1", a: "\u2028" }, order: 0 },
      { referenceType: "work", referenceId: "1" }
    )
    const [first, second]: ReadonlyArray<BillableBody> = added.body.data
    const path = `/billables/${first?.id}`
    const read = dataTextOf(await call("GET", path))
    assert.strictEqual(added.text, `{"data":[${read},${dataTextOf(await call("GET", `/billables/${second?.id}`))}]}`)
    const changed = dataTextOf(await call("PATCH", path, { quantity: 0.5, description: "Half", order: null }))
    assert.strictEqual((await call("DELETE", path)).status, 204)
    await assertEvents(first?.id ?? "", client, [
      ["billable.created", read],
      ["billable.updated", changed],
      ["billable.deleted", changed]
    ])
    await assertEvents(second?.id ?? "", client, [["billable.created", JSON.stringify(second)]])
  })

  it("record the deletion of a draft and of each of its billables in one transaction", async () => {
    const { add, call, client, created, id, readText } = await createDraft()
    const [one, other] = await add(id, {}, {})
    const full = await readText()
    const changed = dataTextOf(await call("PATCH", `/billables/${one?.id}`, { order: 3 }))
    const last = await readText()
    assert.strictEqual((await call("DELETE", `/invoices/${id}`)).status, 204)
    const ofInvoice = await assertEvents(id, client, [
      ["invoice.created", dataTextOf(created)],
      ["invoice.updated", full],
      ["invoice.updated", last],
      ["invoice.deleted", last]
    ])
    const ofOne = await assertEvents(one?.id ?? "", client, [
      ["billable.created", JSON.stringify(one)],
      ["billable.updated", changed],
      ["billable.deleted", changed]
    ])
    const ofOther = await assertEvents(other?.id ?? "", client, [
      ["billable.created", JSON.stringify(other)],
      ["billable.deleted", JSON.stringify(other)]
    ])
    const ends = [ofInvoice, ofOne, ofOther].map((events) => events.at(-1)?.transaction)
    assert.strictEqual(new Set(ends).size, 1, "all in one transaction")
  })

  it("are written in the transaction of the change", async () => {
    const { add, id, transition } = await createDraft()
    const transactionOf = async (table: string, row: string) => {
      const { rows } = await fixture().pool.query(`select xmin::text as transaction from ${table} where id = $1`, [row])
      return rows[0]?.transaction
    }
    const lastTransactionOf = async (row: string) => (await eventsOf(row)).at(-1)?.transaction
    const [line] = await add(id, {})
    assert.strictEqual(await lastTransactionOf(line?.id ?? ""), await transactionOf("billables", line?.id ?? ""))
    assert.strictEqual(await lastTransactionOf(id), await lastTransactionOf(line?.id ?? ""))
    for (const step of ["finalize", "void"]) {
      await transition(id, step)
      assert.strictEqual(await lastTransactionOf(id), await transactionOf("invoices", id), step)
    }
  })

  it("have consecutive sequence numbers under concurrent writes, and the last has the current data", async () => {
    const { call, client, id, readText, tryAdd } = await createDraft()
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
    assert.strictEqual(events.at(-1)?.data, await readText())
    const { rows } = await fixture().pool.query<{ count: number }>(
      "select count(*)::int from events where type = 'billable.created' and data->>'invoice' = $1 and sequence = 1",
      [id]
    )
    assert.strictEqual(rows[0]?.count, 8)
  })

  it("are not recorded for rejected requests", async () => {
    const { add, call, id, tenant, tryAdd, tryTransition } = await createDraft()
    const [line] = await add(id, { amountMinor: -5 })
    const stale = { "if-match": '"stale"' }
    const count = async () => {
      const { rows } = await fixture().pool.query("select count(*)::int from events where tenant_id = $1", [tenant])
      return rows[0]?.count
    }
    const before = await count()
    const rejected: ReadonlyArray<readonly [number, Promise<ServiceResponse>]> = [
      [400, tryAdd(id, {}, { currencyCode: "USD" })],
      [400, tryAdd(id, { amountMinor: 9007199254740991, quantity: 2 })],
      [400, call("PATCH", `/billables/${line?.id}`, { currencyCode: "USD" })],
      [400, call("PATCH", `/invoices/${id}`, { dueAt: "soon" })],
      [400, tryTransition(id, "finalize")],
      [400, tryTransition(id, "pay")],
      [412, call("PATCH", `/invoices/${id}`, { dueAt: null }, stale)],
      [412, call("DELETE", `/invoices/${id}`, undefined, stale)],
      [412, call("DELETE", `/billables/${line?.id}`, undefined, stale)],
      ...transitions.map(
        (transition) => [412, call("POST", `/invoices/${id}/${transition}`, undefined, stale)] as const
      ),
      [404, call("POST", "/invoices/inv_none/void")]
    ]
    for (const [status, response] of rejected)
      assert.strictEqual((await response).status, status, (await response).text)
    assert.strictEqual(await count(), before)
  })
})
