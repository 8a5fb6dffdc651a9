import { assert, describe, it } from "vitest"
import { assertValidationError } from "../../support/assertions/failures.ts"
import { daysFromNow } from "../../support/fixtures/dates.ts"
import { invoiceClient, readInvoicingRows } from "../../support/fixtures/invoices.ts"
import { type ResourceBody, resourceMaker } from "../../support/fixtures/resources.ts"
import { useFixture } from "../../support/fixtures/useFixture.ts"
import { startServiceWithPool } from "../../support/servers/serviceWithPool.ts"

describe("POST /invoices/{invoiceId}/finalize", () => {
  const fixture = useFixture(startServiceWithPool)
  const createClient = async () => invoiceClient(fixture().service, await fixture().service.newTenant())

  it.each([0, 1, 30, 365])(
    "sets the due date %i days after the issue date, as the contract says",
    async (paymentTermDays) => {
      const { add, contract, draft, transition } = await createClient()
      const { id } = await draft({ contractId: (await contract({ paymentTermDays })).id })
      await add(id, {})
      const { dueAt, issuedAt } = await transition(id, "finalize")
      assert.strictEqual(dueAt, daysFromNow(paymentTermDays, issuedAt))
    }
  )

  it("keeps the due date of the draft", async () => {
    const { add, draft, transition } = await createClient()
    const dueAt = daysFromNow(3)
    const { id } = await draft({ dueAt })
    await add(id, {})
    assert.strictEqual((await transition(id, "finalize"))["dueAt"], dueAt)
  })

  it("rejects a due date in the past and assigns no number", async () => {
    const { add, call, draft, transition, read, tryTransition } = await createClient()
    const { id } = await draft({ dueAt: "2020-01-01T00:00:00Z" })
    await add(id, {})
    const before = await read(id)
    assertValidationError(await tryTransition(id, "finalize"), ["dueAt", "min", "must not be before the date of issue"])
    assert.deepStrictEqual(await read(id), before)
    assert.strictEqual((await call("PATCH", `/invoices/${id}`, { dueAt: null })).status, 200)
    assert.match(String((await transition(id, "finalize"))["invoiceNumber"]), /^INV-\d{4}-000001$/)
  })

  it("rejects an invoice without lines", async () => {
    const { add, call, draft, transition, tryTransition } = await createClient()
    const { id } = await draft()
    const empty = ["billableCount", "min", "is 0; add at least one billable before finalizing"] as const
    assertValidationError(await tryTransition(id, "finalize"), empty)
    const [line] = await add(id, {})
    await call("DELETE", `/billables/${line?.id}`)
    assertValidationError(await tryTransition(id, "finalize"), empty)
    await add(id, {})
    await transition(id, "finalize")
  })

  it("rejects a negative total and accepts a total of zero", async () => {
    const { add, draft, transition, tryTransition } = await createClient()
    const { id } = await draft()
    await add(id, { amountMinor: -1 })
    assertValidationError(await tryTransition(id, "finalize"), [
      "totalMinor",
      "min",
      "is -1; only an invoice with a total of at least 0 can be finalized"
    ])
    await add(id, { amountMinor: 1 })
    assert.deepInclude(await transition(id, "finalize"), { status: "PAID", totalMinor: 0 })
  })

  it("assigns the next number of the tenant and an issue date not before the previous one", async () => {
    const one = await createClient()
    const other = await createClient()
    const issued: Array<string> = []
    for (let n = 1; n <= 3; n++) {
      const { id } = await one.draft()
      await one.add(id, {})
      const { invoiceNumber, issuedAt } = await one.transition(id, "finalize")
      assert.match(String(invoiceNumber), new RegExp(`^INV-\\d{4}-00000${n}$`))
      issued.push(String(issuedAt))
    }
    assert.deepStrictEqual(issued, [...issued].sort())
    const { id } = await other.draft()
    await other.add(id, {})
    assert.match(String((await other.transition(id, "finalize"))["invoiceNumber"]), /-000001$/)
  })

  it("freezes tenant, client, contract and addresses", async () => {
    const { add, call, draft, transition, tenant } = await createClient()
    const { make } = resourceMaker(fixture().service, tenant)
    const client: ResourceBody = await make("clients", { name: "Northwind", language: "fr" })
    const clientAddress = await make("addresses", {
      clientId: client.id,
      name: "Northwind Ltd",
      countryCode: "NO",
      taxNumber: "T-1",
      electronicAddress: { scheme: "0192", value: "987654321" },
      order: 1
    })
    await make("addresses", { clientId: client.id, name: "Warehouse", order: 2 })
    const tenantAddress = await make("addresses", { clientId: undefined, name: "Harbour Works", countryCode: "DE" })
    const billingContact = { name: "Billing", email: "billing@harbour.test" }
    assert.strictEqual((await call("PATCH", `/tenants/${tenant}`, { billingContact })).status, 200)
    const contract = await make("contracts", { clientId: client.id, name: "Pumps", status: "ACTIVE" })
    const { id } = await draft({ contractId: contract.id })
    await add(id, {})
    await transition(id, "finalize")
    const readParties = async () => {
      const { rows } = await fixture().pool.query<{ parties: unknown }>("select parties from invoices where id = $1", [
        id
      ])
      return rows[0]?.parties
    }
    const parties = {
      tenant: { name: "Tenant", address: tenantAddress, timeZone: "UTC", billingContact },
      client: { name: "Northwind", address: clientAddress, language: "fr" },
      contract: { name: "Pumps" }
    }
    assert.deepStrictEqual(await readParties(), parties)

    const changes: ReadonlyArray<Promise<{ readonly status: number }>> = [
      call("PATCH", `/clients/${client.id}`, { name: "Southwind", language: "de" }),
      call("PATCH", `/contracts/${contract.id}`, { name: "Valves", paymentTermDays: 1 }),
      call("PATCH", `/tenants/${tenant}`, { name: "Renamed", billingContact: null }),
      call("PATCH", `/addresses/${tenantAddress.id}`, { city: "Oslo", countryCode: null })
    ]
    for (const { status } of await Promise.all(changes)) assert.strictEqual(status, 200)
    assert.strictEqual((await call("DELETE", `/addresses/${clientAddress.id}`)).status, 204)
    const paid = await transition(id, "pay")
    assert.strictEqual(paid["dueAt"], daysFromNow(30, paid["issuedAt"]))
    assert.deepStrictEqual(await readParties(), parties)
  })

  it("freezes English as the language of a client that names none", async () => {
    const { id } = await (await createClient()).invoiceIn("FINALIZED")
    const { rows } = await fixture().pool.query<{ language: string }>(
      "select parties -> 'client' ->> 'language' as language from invoices where id = $1",
      [id]
    )
    assert.deepStrictEqual(rows, [{ language: "en" }])
  })
})

describe("A dry run", () => {
  const fixture = useFixture(startServiceWithPool)
  const createClient = async () => invoiceClient(fixture().service, await fixture().service.newTenant())
  const rowsOf = async (tenant: string) => {
    const { rows: fileJobs } = await fixture().pool.query("select * from invoice_file_queue where tenant_id = $1", [
      tenant
    ])
    return { ...(await readInvoicingRows(fixture().pool, tenant)), fileJobs }
  }
  const changesOf = ({ dueAt: _, issuedAt: __, updatedAt: ___, ...invoice }: ResourceBody) => invoice

  it.each(["finalize", "void"])("of %s answers as the request does, and changes nothing", async (name) => {
    const { add, draft, tenant, transition } = await createClient()
    const { id } = await draft()
    await add(id, { referenceType: "jira", referenceId: "NORTH-318" })
    if (name === "void") await transition(id, "finalize")
    const before = await rowsOf(tenant)
    const predicted = await transition(id, `${name}?dryRun=true`)
    assert.deepStrictEqual(await rowsOf(tenant), before)
    assert.deepStrictEqual(changesOf(predicted), changesOf(await transition(id, `${name}?dryRun=false`)))
    assert.notDeepEqual(await rowsOf(tenant), before)
  })

  it("reports every error of the request", async () => {
    const { draft, transition, tryTransition } = await createClient()
    const { id } = await draft()
    assertValidationError(await tryTransition(id, "finalize?dryRun=true"), [
      "billableCount",
      "min",
      "is 0; add at least one billable before finalizing"
    ])
    await transition(id, "void")
    for (const name of ["finalize", "void"]) {
      const [real, dry] = [await tryTransition(id, name), await tryTransition(id, `${name}?dryRun=true`)]
      assert.deepStrictEqual([dry.status, dry.body], [400, real.body])
    }
  })

  it("must be true or false", async () => {
    const { draft, tryTransition } = await createClient()
    const { id } = await draft()
    assertValidationError(await tryTransition(id, "finalize?dryRun=maybe"), [
      "dryRun",
      "enum",
      "must be one of true, false"
    ])
  })
})
