import { Effect, Fiber, Layer, ManagedRuntime } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import type { FileVariant } from "../../../../src/domain/invoicing/document/InvoiceFile.ts"
import { CurrentTenant } from "../../../../src/domain/tenancy/RequestContext.ts"
import { TenantId } from "../../../../src/domain/tenancy/Tenant.ts"
import { Blobs } from "../../../../src/layers/branding/Blobs.ts"
import { PostgresBlobs } from "../../../../src/layers/infra/blobs/PostgresBlobs.ts"
import { PdfRenderer, type RenderRequest } from "../../../../src/layers/infra/pdf/PdfRenderer.ts"
import { InvoiceFiles } from "../../../../src/layers/invoicing/document/InvoiceFiles.ts"
import { InvoiceDetails, InvoicePdfs } from "../../../../src/layers/invoicing/document/InvoicePdfs.ts"
import { invoiceClient } from "../../../support/fixtures/invoices.ts"
import { useFixture } from "../../../support/fixtures/useFixture.ts"
import { testLayers } from "../../../support/servers/layers.ts"
import { startServiceWithPool } from "../../../support/servers/serviceWithPool.ts"
import { eventually } from "../../../support/servers/worker.ts"

/** A process whose renderer returns text instead of PDFs, counts its calls, and can be paused. */
const startProcess = (databaseUrl: string, name = "") => {
  const rendered: Array<string> = []
  let isPaused = false
  let interrupted = 0
  const awaitResume = Effect.suspend(() => (isPaused ? Effect.sleep("5 millis") : Effect.void)).pipe(
    Effect.repeat({ until: () => !isPaused }),
    Effect.onInterrupt(() => Effect.sync(() => interrupted++))
  )
  const countingRenderer = {
    renderInvoice: <E, R>({ load }: RenderRequest<E, R>) =>
      Effect.flatMap(load, ({ invoice: { id, status } }) => {
        rendered.push(`${id} ${status}`)
        return Effect.as(awaitResume, new TextEncoder().encode(`${id} ${status} ${name}`))
      }),
    renderEInvoice: () => Effect.dieMessage("no e-invoice is rendered"),
    renderStatement: () => Effect.dieMessage("This process renders no statements")
  }
  const runtime = ManagedRuntime.make(
    Layer.provideMerge(
      InvoicePdfs.DefaultWithoutDependencies.pipe(
        Layer.provide(Layer.succeed(PdfRenderer, new PdfRenderer(countingRenderer))),
        Layer.provideMerge(Layer.mergeAll(InvoiceDetails.Default, InvoiceFiles.Default, Blobs.Default)),
        Layer.provide(PostgresBlobs)
      ),
      testLayers(databaseUrl)
    )
  )
  const request = (tenant: string, id: string, variant: FileVariant = "ISSUED") =>
    runtime.runFork(
      Effect.flatMap(InvoicePdfs, (pdfs) =>
        Effect.flatMap(InvoiceDetails, (details) => details.get(id)).pipe(
          Effect.flatMap(({ invoice }) => pdfs.getIssued(invoice, variant)),
          Effect.flatMap(pdfs.readAll),
          Effect.map((bytes) => new TextDecoder().decode(bytes))
        )
      ).pipe(Effect.provideService(CurrentTenant, TenantId.make(tenant)))
    )
  return {
    rendered,
    interrupted: () => interrupted,
    setPaused: (paused: boolean) => {
      isPaused = paused
    },
    request,
    readText: (...args: Parameters<typeof request>) => Effect.runPromise(Fiber.join(request(...args))),
    release: (tenant: string, digest: string) =>
      runtime.runPromise(
        Effect.flatMap(Blobs, (blobs) => blobs.release(digest)).pipe(
          Effect.provideService(CurrentTenant, TenantId.make(tenant))
        )
      ),
    stop: () => runtime.dispose()
  }
}

describe("The stored PDF of an issued invoice", () => {
  const at = useFixture(() => startServiceWithPool())
  let one: ReturnType<typeof startProcess>
  let other: ReturnType<typeof startProcess>
  beforeAll(() => {
    one = startProcess(at().service.database.url)
    other = startProcess(at().service.database.url, "by the other process")
  })
  afterAll(() => Promise.all([one.stop(), other.stop()]))

  const issue = async () => {
    const tenant = await at().service.newTenant()
    const invoicing = invoiceClient(at().service, tenant)
    const { id } = await invoicing.invoiceIn("FINALIZED")
    return { tenant, id, invoicing }
  }
  const rowsOf = async (table: string, tenant: string) =>
    (await at().pool.query(`select * from ${table} where tenant_id = $1 order by 1, 2, 3`, [tenant])).rows
  const renderedOf = (id: string) => one.rendered.filter((name) => name.startsWith(id))

  it("is rendered once for concurrent and later requests", async () => {
    const { id, tenant } = await issue()
    const texts = await Promise.all(Array.from({ length: 20 }, () => one.readText(tenant, id)))
    assert.deepStrictEqual(new Set(texts), new Set([`${id} FINALIZED `]))
    await one.readText(tenant, id)
    assert.lengthOf(renderedOf(id), 1)
    assert.lengthOf(await rowsOf("invoice_files", tenant), 1)
    assert.lengthOf(await rowsOf("uploads", tenant), 0)
  })

  it("is removed from the rendering queue once it is stored", async () => {
    const { id, tenant } = await issue()
    assert.lengthOf(await rowsOf("invoice_file_queue", tenant), 1)
    await one.readText(tenant, id)
    assert.lengthOf(await rowsOf("invoice_file_queue", tenant), 0)
  })

  it("is kept when the invoice is voided, beside a second file with the VOID mark", async () => {
    const { id, invoicing, tenant } = await issue()
    await one.readText(tenant, id)
    const [before] = await rowsOf("invoice_files", tenant)
    await invoicing.transition(id, "void")
    assert.strictEqual(await one.readText(tenant, id, "VOID"), `${id} VOID `)
    const [issued, voided] = await rowsOf("invoice_files", tenant)
    assert.deepStrictEqual(issued, before)
    assert.strictEqual(voided.variant, "VOID")
  })

  it("shows the issued invoice although it is rendered after the invoice was voided", async () => {
    const { id, invoicing, tenant } = await issue()
    await invoicing.transition(id, "void")
    assert.strictEqual(await one.readText(tenant, id), `${id} FINALIZED `)
  })

  it("is the first one stored if two processes render it, and the second one is marked for deletion", async () => {
    const { id, tenant } = await issue()
    one.setPaused(true)
    const slow = one.request(tenant, id)
    await eventually(() => renderedOf(id).length === 1, "the first process has started rendering")
    const first = await other.readText(tenant, id)
    one.setPaused(false)
    assert.strictEqual(first, `${id} FINALIZED by the other process`)
    assert.strictEqual(await Effect.runPromise(Fiber.join(slow)), first)
    assert.lengthOf(await rowsOf("blobs", tenant), 1)
    const [upload] = await rowsOf("uploads", tenant)
    assert.strictEqual(upload?.started_at, Number.NEGATIVE_INFINITY, "the janitor may delete the second upload")
  })

  it("is not rendered to the end after all requests were cancelled", async () => {
    const { id, tenant } = await issue()
    one.setPaused(true)
    const pending = one.request(tenant, id)
    await eventually(() => renderedOf(id).length === 1, "rendering has started")
    await Effect.runPromise(Fiber.interrupt(pending))
    await eventually(() => one.interrupted() === 1, "rendering was interrupted")
    one.setPaused(false)
    assert.lengthOf(await rowsOf("invoice_files", tenant), 0)
    assert.strictEqual(await one.readText(tenant, id), `${id} FINALIZED `)
  })

  it("keeps its blob as long as it references it", async () => {
    const { id, tenant } = await issue()
    await one.readText(tenant, id)
    const [{ digest }] = await rowsOf("invoice_files", tenant)
    await one.release(tenant, digest)
    assert.lengthOf(await rowsOf("blobs", tenant), 1)
    await at().pool.query("delete from invoice_files where tenant_id = $1", [tenant])
    await one.release(tenant, digest)
    assert.lengthOf(await rowsOf("blobs", tenant), 0)
  })
})
