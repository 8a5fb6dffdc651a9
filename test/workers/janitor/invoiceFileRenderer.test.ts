import { Effect, Layer, ManagedRuntime } from "effect"
import { assert, describe, it } from "vitest"
import { PostgresBlobs } from "../../../src/layers/infra/blobs/PostgresBlobs.ts"
import { makeInvoiceFileRenderer } from "../../../src/workers/janitor/InvoiceFileRenderer.ts"
import { InvoiceRenderingDependencies } from "../../../src/workers/janitor/Janitor.ts"
import { invoiceClient } from "../../support/fixtures/invoices.ts"
import { useFixture } from "../../support/fixtures/useFixture.ts"
import { runJanitorOnce } from "../../support/servers/janitor.ts"
import { testLayers } from "../../support/servers/layers.ts"
import { startServiceWithPool } from "../../support/servers/serviceWithPool.ts"

describe("The invoice file renderer", () => {
  const at = useFixture(async () => {
    const started = await startServiceWithPool({})
    const runtime = ManagedRuntime.make(
      Layer.provide(
        InvoiceRenderingDependencies,
        Layer.provideMerge(PostgresBlobs, testLayers(started.service.database.url))
      )
    )
    const stop = async () => {
      await runtime.dispose()
      await started.stop()
    }
    return { ...started, runtime, stop }
  })

  /** Renders all queued files, at most `max`; returns their number. */
  const renderAll = (max = 100) =>
    at().runtime.runPromise(
      Effect.gen(function* () {
        const { renderNext } = yield* makeInvoiceFileRenderer
        let count = 0
        while (count < max && (yield* renderNext)) count++
        return count
      })
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

  it("renders a file of each issued invoice and another of each voided invoice, but none of a draft", async () => {
    const { invoiceIn, tenant } = await newInvoicing()
    await invoiceIn("DRAFT")
    const paid = await invoiceIn("PAID")
    const voided = await invoiceIn("VOID")
    await renderAll()
    assert.deepStrictEqual(
      (await filesOf(tenant)).map(({ invoice, variant }) => `${invoice} ${variant}`),
      [`${paid.id} ISSUED`, `${voided.id} ISSUED`, `${voided.id} VOID`].sort()
    )
    assert.lengthOf(await queueOf(tenant), 0)
    assert.strictEqual(await renderAll(), 0)
  })

  it("stores the bytes that a request renders, and requests serve the stored file afterwards", async () => {
    const { invoiceIn, tenant } = await newInvoicing()
    const { id } = await invoiceIn("FINALIZED")
    const renderedEtag = await etagOf(tenant, id)
    await at().pool.query("delete from invoice_files where tenant_id = $1", [tenant])
    await at().pool.query("insert into invoice_file_queue (tenant_id, invoice_id, variant) values ($1, $2, 'ISSUED')", [
      tenant,
      id
    ])
    await renderAll()
    const [{ digest } = assert.fail()] = await filesOf(tenant)
    assert.strictEqual(renderedEtag, `"${digest.slice(0, 27)}"`)
    // Rendering again would show the new name.
    await at().pool.query("update billables set name = 'Renamed' where tenant_id = $1", [tenant])
    assert.strictEqual(await etagOf(tenant, id), renderedEtag)
  })

  it("takes tenants in turn, whatever the lengths of their queues", async () => {
    const [one, other] = [await newInvoicing(), await newInvoicing()]
    for (let n = 0; n < 3; n++) await one.invoiceIn("FINALIZED")
    await other.invoiceIn("FINALIZED")
    assert.strictEqual(await renderAll(2), 2)
    assert.lengthOf(await filesOf(one.tenant), 1)
    assert.lengthOf(await filesOf(other.tenant), 1)
    await renderAll()
    assert.lengthOf(await filesOf(one.tenant), 3)
  })

  it("renders the file of a crashed worker after its lease expires, and not before", async () => {
    const { invoiceIn, tenant } = await newInvoicing()
    await invoiceIn("FINALIZED")
    const lease = (minutes: number) =>
      at().pool.query(
        "update invoice_file_queue set attempts = 1, due_at = now() + make_interval(mins => $2) where tenant_id = $1",
        [tenant, minutes]
      )
    await lease(20)
    await renderAll()
    assert.lengthOf(await filesOf(tenant), 0)
    await lease(-1)
    await renderAll()
    assert.lengthOf(await filesOf(tenant), 1)
  })

  it("skips a deleted tenant, and continues with other tenants", async () => {
    const [deleted, existing] = [await newInvoicing(), await newInvoicing()]
    for (const { invoiceIn } of [deleted, existing]) await invoiceIn("FINALIZED")
    await at().service.api("DELETE", `/tenants/${deleted.tenant}`, { as: "owner" })
    await renderAll()
    assert.lengthOf(await filesOf(deleted.tenant), 0)
    assert.lengthOf(await filesOf(existing.tenant), 1)
  })

  it("continues after a file that fails, and retries the file later", async () => {
    const [failing, other] = [await newInvoicing(), await newInvoicing()]
    await other.invoiceIn("FINALIZED")
    await at().pool.query(
      "insert into invoice_file_queue (tenant_id, invoice_id, variant) values ($1, 'inv_none', 'ISSUED')",
      [failing.tenant]
    )
    await renderAll()
    assert.lengthOf(await filesOf(other.tenant), 1)
    const [queued] = await queueOf(failing.tenant)
    assert.strictEqual(queued.attempts, 1)
    assert.isAbove(queued.due_at.getTime(), Date.now())
  })

  it("leaves no file and no queue entry of an erased tenant", async () => {
    const { invoiceIn, tenant } = await newInvoicing()
    await invoiceIn("FINALIZED")
    await renderAll()
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
