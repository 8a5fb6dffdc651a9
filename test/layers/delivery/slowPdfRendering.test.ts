import { it } from "@effect/vitest"
import { Effect, Fiber, Layer, Stream, TestClock } from "effect"
import { assert, describe } from "vitest"
import { TenantId } from "../../../src/domain/tenancy/Tenant.ts"
import { DeliveryFiles, GoogleDriveSender } from "../../../src/layers/delivery/GoogleDriveSender.ts"
import { UploadProofs } from "../../../src/layers/delivery/UploadProofs.ts"
import { readSettings, Settings } from "../../../src/layers/infra/config/Settings.ts"
import { Grants } from "../../../src/layers/integrations/authorization/Grants.ts"
import { InvoicePdfs } from "../../../src/layers/invoicing/document/InvoicePdfs.ts"
import { documentOf } from "../../support/fixtures/invoiceDocuments.ts"

const { invoice } = documentOf({ invoice: { dueAt: "2026-04-01T08:00:00.000Z" } })
const id = (prefix: string) => `${prefix}_${"0".repeat(26)}`

/** Rendering takes 40 seconds; `renderedCount` counts the finished PDFs. */
const makeSlowPdfs = () => {
  let count = 0
  const file = { digest: "", sizeBytes: 1 }
  const pdfs = new InvoicePdfs({
    renderPreview: () => Effect.die("no drafts are delivered"),
    getIssued: () =>
      Effect.delay(
        Effect.as(
          Effect.sync(() => count++),
          file
        ),
        "40 seconds"
      ),
    read: () => Stream.empty,
    readAll: () => Effect.succeed(new Uint8Array([1]))
  })
  return { pdfs, renderedCount: () => count }
}

describe("The Google Drive delivery of an invoice whose PDF renders longer than an attempt", () => {
  it.scoped("fails the attempt at its timeout and finishes the rendering for the next attempt", () => {
    const { pdfs, renderedCount } = makeSlowPdfs()
    const layer = GoogleDriveSender.DefaultWithoutDependencies.pipe(
      Layer.provide([
        Layer.succeed(InvoicePdfs, pdfs),
        // Not used before the PDF is rendered.
        Layer.succeed(DeliveryFiles, {} as DeliveryFiles),
        Layer.succeed(Grants, {} as Grants),
        Layer.succeed(UploadProofs, {} as UploadProofs),
        Layer.effect(Settings, Effect.orDie(readSettings({})))
      ])
    )
    const data = JSON.stringify({ ...invoice, id: id("inv"), contract: id("ctr") })
    return Effect.gen(function* () {
      const { send } = yield* GoogleDriveSender
      const attempt = yield* Effect.fork(
        send({
          tenant: TenantId.make(id("tnt")),
          integration: "",
          delivery: "",
          attempt: 1,
          type: "invoice.finalized",
          data
        })
      )
      yield* TestClock.adjust("15 seconds")
      const { delivered, error } = yield* Fiber.join(attempt)
      assert.isFalse(delivered)
      assert.include(error, "still being rendered")
      assert.strictEqual(renderedCount(), 0)
      yield* TestClock.adjust("25 seconds")
      assert.strictEqual(renderedCount(), 1)
    }).pipe(Effect.provide(layer))
  })
})
