import { Effect, Layer } from "effect"
import { assert, describe, it } from "vitest"
import { PostgresBlobs } from "../../../src/layers/blobs/PostgresBlobs.ts"
import { makeInvoiceFileRenderer } from "../../../src/workers/janitor/InvoiceFileRenderer.ts"
import { InvoiceRenderingDependencies } from "../../../src/workers/janitor/Janitor.ts"
import { invoiceClient } from "../../support/fixtures/invoices.ts"
import { useFixture } from "../../support/fixtures/useFixture.ts"
import { runJanitorOnce } from "../../support/servers/janitor.ts"
import { testLayers } from "../../support/servers/layers.ts"
import { startServiceWithPool } from "../../support/servers/serviceWithPool.ts"

describe("drawing queued invoices", () => {
  const at = useFixture(startServiceWithPool)

  /** Draws as many files as there are, or `max`; tells how many. */
  const drawAll = (max = 100) =>
    Effect.runPromise(
      Effect.gen(function* () {
        const { renderNext } = yield* makeInvoiceFileRenderer
        let count = 0
        while (count < max && (yield* renderNext)) count++
        return count
      }).pipe(
        Effect.provide(
          Layer.provide(
            InvoiceRenderingDependencies,
            Layer.provideMerge(PostgresBlobs, testLayers(at().service.database.url))
          )
        )
      )
    )

  const newInvoicing = async () => invoiceClient(at().service, await at().service.newTenant())
  const filesOf = async (tenant: string) => {
    const { rows } = await at().pool.query<{ invoice: string; variant: string; digest: string }>(
      `select invoice_id as invoice, variant, digest from invoice_files where tenant_id = $1 order by 1, 2`,
      [tenant]
    )
    return rows
  }
  const queueOf = async (tenant: string) =>
    (await at().pool.query("select * from invoice_file_queue where tenant_id = $1", [tenant])).rows
  const etagOf = async (tenant: string, invoice: string) =>
    (await at().service.api("GET", `/invoices/${invoice}/pdf`, { as: "owner", tenant })).headers.get("etag")

  it("keeps a file of each issued invoice and another of each that is voided, but none of a draft", async () => {
    const { invoiceIn, tenant } = await newInvoicing()
    await invoiceIn("DRAFT")
    const paid = await invoiceIn("PAID")
    const voided = await invoiceIn("VOID")
    await drawAll()
    assert.deepStrictEqual(
      (await filesOf(tenant)).map(({ invoice, variant }) => `${invoice} ${variant}`),
      [`${paid.id} ISSUED`, `${voided.id} ISSUED`, `${voided.id} VOID`].sort()
    )
    assert.lengthOf(await queueOf(tenant), 0)
    assert.strictEqual(await drawAll(), 0)
  })

  it("keeps the bytes that a request draws, which is then served the file without its being drawn again", async () => {
    const { invoiceIn, tenant } = await newInvoicing()
    const { id } = await invoiceIn("FINALIZED")
    const drawn = await etagOf(tenant, id)
    await at().pool.query("delete from invoice_files where tenant_id = $1", [tenant])
    await at().pool.query("insert into invoice_file_queue (tenant_id, invoice_id, variant) values ($1, $2, 'ISSUED')", [
      tenant,
      id
    ])
    await drawAll()
    const [{ digest } = assert.fail()] = await filesOf(tenant)
    assert.strictEqual(drawn, `"${digest.slice(0, 27)}"`)
    // A drawing would show the new name.
    await at().pool.query("update billables set name = 'Renamed' where tenant_id = $1", [tenant])
    assert.strictEqual(await etagOf(tenant, id), drawn)
  })

  it("takes tenants in turn, whatever they have queued", async () => {
    const [one, other] = [await newInvoicing(), await newInvoicing()]
    for (let n = 0; n < 3; n++) await one.invoiceIn("FINALIZED")
    await other.invoiceIn("FINALIZED")
    assert.strictEqual(await drawAll(2), 2)
    assert.lengthOf(await filesOf(one.tenant), 1)
    assert.lengthOf(await filesOf(other.tenant), 1)
    await drawAll()
    assert.lengthOf(await filesOf(one.tenant), 3)
  })

  it("draws a file again whose worker did not come back, but not before its lease is over", async () => {
    const { invoiceIn, tenant } = await newInvoicing()
    await invoiceIn("FINALIZED")
    const lease = (minutes: number) =>
      at().pool.query(
        "update invoice_file_queue set attempts = 1, due_at = now() + make_interval(mins => $2) where tenant_id = $1",
        [tenant, minutes]
      )
    await lease(20)
    await drawAll()
    assert.lengthOf(await filesOf(tenant), 0)
    await lease(-1)
    await drawAll()
    assert.lengthOf(await filesOf(tenant), 1)
  })

  it("draws nothing for a tenant that was deleted, and goes on with the others", async () => {
    const [gone, there] = [await newInvoicing(), await newInvoicing()]
    for (const { invoiceIn } of [gone, there]) await invoiceIn("FINALIZED")
    await at().service.api("DELETE", `/tenants/${gone.tenant}`, { as: "owner" })
    await drawAll()
    assert.lengthOf(await filesOf(gone.tenant), 0)
    assert.lengthOf(await filesOf(there.tenant), 1)
  })

  it("goes on after a file that cannot be drawn, and tries it again later", async () => {
    const [broken, sound] = [await newInvoicing(), await newInvoicing()]
    await sound.invoiceIn("FINALIZED")
    await at().pool.query(
      "insert into invoice_file_queue (tenant_id, invoice_id, variant) values ($1, 'inv_none', 'ISSUED')",
      [broken.tenant]
    )
    await drawAll()
    assert.lengthOf(await filesOf(sound.tenant), 1)
    const [left] = await queueOf(broken.tenant)
    assert.strictEqual(left.attempts, 1)
    assert.isAbove(left.due_at.getTime(), Date.now())
  })

  it("leaves nothing of the files of a tenant that is erased", async () => {
    const { invoiceIn, tenant } = await newInvoicing()
    await invoiceIn("FINALIZED")
    await drawAll()
    await invoiceIn("FINALIZED")
    const countOf = async (table: string) =>
      (await at().pool.query(`select 1 from ${table} where tenant_id = $1`, [tenant])).rows.length
    const tables = ["invoice_files", "invoice_file_queue", "blobs", "blob_chunks"]
    for (const table of tables) assert.isAbove(await countOf(table), 0, table)
    await at().service.api("DELETE", `/tenants/${tenant}`, { as: "owner" })
    await runJanitorOnce(at().service, { TENANT_RETENTION_DAYS: "0" })
    for (const table of tables) assert.strictEqual(await countOf(table), 0, table)
  })
})
