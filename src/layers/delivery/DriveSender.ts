import { Duration, Effect, Fiber, Schema } from "effect"
import type { Sent } from "../../domain/delivery/Sent.ts"
import { Invoice } from "../../domain/invoicing/Invoice.ts"
import { pdfNameOf } from "../../domain/invoicing/PdfName.ts"
import { CurrentTenant } from "../../domain/tenancy/Caller.ts"
import type { TenantId } from "../../domain/tenancy/Tenant.ts"
import { Settings } from "../config/Settings.ts"
import { driveOver } from "../googleDrive/Drive.ts"
import { place } from "../googleDrive/Placing.ts"
import { Refusal } from "../googleDrive/Refusal.ts"
import { Grants } from "../integrations/authorization/Grants.ts"
import { openSession } from "../integrations/authorization/Session.ts"
import { InvoicePdfs } from "../invoicing/InvoicePdfs.ts"
import { type Reply, withoutSlash } from "../providerHttp/Calls.ts"
import { DeliveryFiles } from "./DeliveryFiles.ts"

export interface Parcel {
  readonly tenant: TenantId
  readonly integration: string
  readonly delivery: string
  readonly type: string
  /** What the event showed, as JSON. */
  readonly data: string
  readonly folder?: string | undefined
}

/** Shorter than a lease, so that nobody else is at the same delivery meanwhile. */
const patience = Duration.seconds(25)
/** How long an attempt waits for its file, so that time to send it remains. */
const fileTimeout = Duration.seconds(15)
const mostKept = 4 * 1024

const readInvoice = Schema.decodeUnknown(Schema.parseJson(Invoice))

const shown = (reply: Reply | undefined) =>
  reply === undefined ? {} : { status: reply.status, body: reply.text.slice(0, mostKept) }

const failed = (failure: { readonly message: string }) => {
  const { reply, retryAfter, stop } = failure instanceof Refusal ? failure : new Refusal({ message: "" })
  return { delivered: false, error: failure.message, retryAfter, stop, ...shown(reply) }
}

/** Delivers finalized invoices as files into a drive. */
export class DriveSender extends Effect.Service<DriveSender>()("layers/DriveSender", {
  dependencies: [InvoicePdfs.Default, DeliveryFiles.Default, Grants.Default],
  scoped: Effect.gen(function* () {
    const { GOOGLE_API_URL } = yield* Settings
    const scope = yield* Effect.scope
    const api = withoutSlash(GOOGLE_API_URL)
    const pdfs = yield* InvoicePdfs
    const files = yield* DeliveryFiles
    const grants = yield* Grants

    /** Drawing goes on when an attempt gives up on it: the next one finds the file. */
    const drawn = (invoice: Invoice) =>
      pdfs.issued(invoice, "ISSUED").pipe(
        Effect.forkIn(scope),
        Effect.flatMap(Fiber.join),
        Effect.timeoutFail({
          duration: fileTimeout,
          onTimeout: () => new Refusal({ message: "The PDF is still being drawn; the next attempt sends it" })
        }),
        Effect.flatMap(pdfs.readWhole)
      )

    /** The invoice as the event shows it: what became of it since would make another file of it. */
    const fileOf = ({ data, folder, tenant }: Parcel) =>
      Effect.gen(function* () {
        const invoice = yield* Effect.orDie(readInvoice(data))
        const pdf = yield* drawn(invoice)
        return { name: pdfNameOf(invoice), pdf, folder, marks: { invoiceId: invoice.id, tenantId: tenant } }
      }).pipe(Effect.provideService(CurrentTenant, tenant))

    const deliver = (parcel: Parcel) =>
      Effect.gen(function* () {
        const { delivery, integration, tenant } = parcel
        const file = yield* fileOf(parcel)
        const session = yield* Effect.provideService(openSession(tenant, integration), Grants, grants)
        const fileId = {
          current: files.of(tenant, delivery),
          keep: (id: string) => files.keep(tenant, delivery, id),
          replace: (gone: string, id: string) => files.replace(tenant, delivery, gone, id)
        }
        return yield* place(driveOver(session, api), fileId, file)
      })

    return {
      /** Delivers once. Whatever is not a file counts as delivered: nobody can subscribe to it here. */
      send: (parcel: Parcel): Effect.Effect<Sent> =>
        parcel.type !== "invoice.finalized"
          ? Effect.succeed({ delivered: true, latencyMs: 0 })
          : deliver(parcel).pipe(
              Effect.timeoutFail({
                duration: patience,
                onTimeout: () => new Refusal({ message: `It took longer than ${Duration.format(patience)}` })
              }),
              Effect.match({ onFailure: failed, onSuccess: (reply) => ({ delivered: true, ...shown(reply) }) }),
              Effect.timed,
              Effect.map(([latency, sent]) => ({ ...sent, latencyMs: Math.round(Duration.toMillis(latency)) }))
            )
    }
  })
}) {}
