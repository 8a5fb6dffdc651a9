import { Effect, Fiber, Layer, ManagedRuntime } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import type { FileVariant } from "../../../src/domain/invoicing/InvoiceFile.ts"
import { CurrentTenant } from "../../../src/domain/tenancy/RequestContext.ts"
import { TenantId } from "../../../src/domain/tenancy/Tenant.ts"
import { PostgresBlobs } from "../../../src/layers/blobs/PostgresBlobs.ts"
import { Blobs } from "../../../src/layers/branding/Blobs.ts"
import { InvoiceFiles } from "../../../src/layers/invoicing/InvoiceFiles.ts"
import { InvoiceDetails, InvoicePdfs } from "../../../src/layers/invoicing/InvoicePdfs.ts"
import { PdfRenderer, type RenderRequest } from "../../../src/layers/pdf/PdfRenderer.ts"
import { invoiceClient } from "../../support/fixtures/invoices.ts"
import { useFixture } from "../../support/fixtures/useFixture.ts"
import { testLayers } from "../../support/servers/layers.ts"
import { startServiceWithPool } from "../../support/servers/serviceWithPool.ts"
import { eventually } from "../../support/servers/worker.ts"

/** A process that has its invoices "drawn" as text which names them, counted, when it is let go on. */
const startProcess = (databaseUrl: string, name = "") => {
  const drawn: Array<string> = []
  let isHeld = false
  let interrupted = 0
  const held = Effect.suspend(() => (isHeld ? Effect.sleep("5 millis") : Effect.void)).pipe(
    Effect.repeat({ until: () => !isHeld }),
    Effect.onInterrupt(() => Effect.sync(() => interrupted++))
  )
  const countingDrawing = {
    renderInvoice: <E, R>({ load }: RenderRequest<E, R>) =>
      Effect.flatMap(load, ({ invoice: { id, status } }) => {
        drawn.push(`${id} ${status}`)
        return Effect.as(held, new TextEncoder().encode(`${id} ${status} ${name}`))
      })
  }
  const runtime = ManagedRuntime.make(
    Layer.provideMerge(
      InvoicePdfs.DefaultWithoutDependencies.pipe(
        Layer.provide(Layer.succeed(PdfRenderer, new PdfRenderer(countingDrawing))),
        Layer.provideMerge(Layer.mergeAll(InvoiceDetails.Default, InvoiceFiles.Default, Blobs.Default)),
        Layer.provide(PostgresBlobs)
      ),
      testLayers(databaseUrl)
    )
  )
  const ask = (tenant: string, id: string, variant: FileVariant = "ISSUED") =>
    runtime.runFork(
      Effect.flatMap(InvoicePdfs, (pdfs) =>
        Effect.flatMap(InvoiceDetails, (whole) => whole.get(id)).pipe(
          Effect.flatMap(({ invoice }) => pdfs.getIssued(invoice, variant)),
          Effect.flatMap(pdfs.readAll),
          Effect.map((bytes) => new TextDecoder().decode(bytes))
        )
      ).pipe(Effect.provideService(CurrentTenant, TenantId.make(tenant)))
    )
  return {
    drawn,
    interrupted: () => interrupted,
    hold: (hold: boolean) => {
      isHeld = hold
    },
    ask,
    textOf: (...request: Parameters<typeof ask>) => Effect.runPromise(Fiber.join(ask(...request))),
    release: (tenant: string, digest: string) =>
      runtime.runPromise(
        Effect.flatMap(Blobs, (blobs) => blobs.release(digest)).pipe(
          Effect.provideService(CurrentTenant, TenantId.make(tenant))
        )
      ),
    stop: () => runtime.dispose()
  }
}

describe("the kept PDF of an issued invoice", () => {
  const at = useFixture(startServiceWithPool)
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
  const drawnOf = (id: string) => one.drawn.filter((drawn) => drawn.startsWith(id))

  it("is drawn once for all who ask at the same time, and never again", async () => {
    const { id, tenant } = await issue()
    const texts = await Promise.all(Array.from({ length: 20 }, () => one.textOf(tenant, id)))
    assert.deepStrictEqual(new Set(texts), new Set([`${id} FINALIZED `]))
    await one.textOf(tenant, id)
    assert.lengthOf(drawnOf(id), 1)
    assert.lengthOf(await rowsOf("invoice_files", tenant), 1)
    assert.lengthOf(await rowsOf("uploads", tenant), 0)
  })

  it("takes its file off the queue of files to be drawn", async () => {
    const { id, tenant } = await issue()
    assert.lengthOf(await rowsOf("invoice_file_queue", tenant), 1)
    await one.textOf(tenant, id)
    assert.lengthOf(await rowsOf("invoice_file_queue", tenant), 0)
  })

  it("stays when the invoice is voided, beside a second file that is marked", async () => {
    const { id, invoicing, tenant } = await issue()
    await one.textOf(tenant, id)
    const [before] = await rowsOf("invoice_files", tenant)
    await invoicing.move(id, "void")
    assert.strictEqual(await one.textOf(tenant, id, "VOID"), `${id} VOID `)
    const [issued, voided] = await rowsOf("invoice_files", tenant)
    assert.deepStrictEqual(issued, before)
    assert.strictEqual(voided.variant, "VOID")
  })

  it("shows the invoice as it was issued even if it is drawn after it was voided", async () => {
    const { id, invoicing, tenant } = await issue()
    await invoicing.move(id, "void")
    assert.strictEqual(await one.textOf(tenant, id), `${id} FINALIZED `)
  })

  it("is the first that was kept when two processes draw it differently, and nothing is left of the second", async () => {
    const { id, tenant } = await issue()
    one.hold(true)
    const late = one.ask(tenant, id)
    await eventually(() => drawnOf(id).length === 1, "both have begun")
    const first = await other.textOf(tenant, id)
    one.hold(false)
    assert.strictEqual(first, `${id} FINALIZED by the other process`)
    assert.strictEqual(await Effect.runPromise(Fiber.join(late)), first)
    assert.lengthOf(await rowsOf("blobs", tenant), 1)
    const [left] = await rowsOf("uploads", tenant)
    assert.strictEqual(left?.started_at, Number.NEGATIVE_INFINITY, "the janitor takes the other bytes away")
  })

  it("is not drawn to its end when nobody waits for it any more", async () => {
    const { id, tenant } = await issue()
    one.hold(true)
    const asked = one.ask(tenant, id)
    await eventually(() => drawnOf(id).length === 1, "drawing has begun")
    await Effect.runPromise(Fiber.interrupt(asked))
    await eventually(() => one.interrupted() === 1, "drawing has ended")
    one.hold(false)
    assert.lengthOf(await rowsOf("invoice_files", tenant), 0)
    assert.strictEqual(await one.textOf(tenant, id), `${id} FINALIZED `)
  })

  it("keeps its bytes as long as it refers to them", async () => {
    const { id, tenant } = await issue()
    await one.textOf(tenant, id)
    const [{ digest }] = await rowsOf("invoice_files", tenant)
    await one.release(tenant, digest)
    assert.lengthOf(await rowsOf("blobs", tenant), 1)
    await at().pool.query("delete from invoice_files where tenant_id = $1", [tenant])
    await one.release(tenant, digest)
    assert.lengthOf(await rowsOf("blobs", tenant), 0)
  })
})
