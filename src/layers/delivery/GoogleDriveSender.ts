import * as SqlClient from "@effect/sql/SqlClient"
import { Duration, Effect, Fiber, Schema } from "effect"
import type { SendResult } from "../../domain/delivery/SendResult.ts"
import { pdfNameOf } from "../../domain/invoicing/document/FileName.ts"
import { Invoice } from "../../domain/invoicing/Invoice.ts"
import { CurrentTenant } from "../../domain/tenancy/RequestContext.ts"
import type { TenantId } from "../../domain/tenancy/Tenant.ts"
import { Settings } from "../infra/config/Settings.ts"
import { DriveError } from "../infra/googleDrive/DriveError.ts"
import { makeGoogleDriveClient } from "../infra/googleDrive/GoogleDriveClient.ts"
import { type FileIdStore, uploadOnce } from "../infra/googleDrive/IdempotentUpload.ts"
import { type ProviderResponse, trimTrailingSlashes } from "../infra/providerHttp/ProviderRequest.ts"
import { withSpans } from "../infra/telemetry/UseCaseSpans.ts"
import { Grants } from "../integrations/authorization/Grants.ts"
import { openProviderSession } from "../integrations/authorization/ProviderSession.ts"
import { InvoicePdfs } from "../invoicing/document/InvoicePdfs.ts"
import { type UploadAttempt, UploadProofs } from "./UploadProofs.ts"

interface Row {
  readonly file: string
}

/** The file id of each delivery to Google Drive. It is stored before the upload, so that every retry writes the same file. */
export class DeliveryFiles extends Effect.Service<DeliveryFiles>()("layers/DeliveryFiles", {
  effect: Effect.map(SqlClient.SqlClient, (sql) => {
    const find = (tenant: string, delivery: string) =>
      Effect.map(
        Effect.orDie(sql<Row>`
          select file_id as file from delivery_files where tenant_id = ${tenant} and delivery_id = ${delivery}`),
        ([row]) => row?.file
      )

    const findOr = (tenant: string, delivery: string, fallback: string) =>
      Effect.map(find(tenant, delivery), (file) => file ?? fallback)

    return {
      find,

      /** Assigns a file id to a delivery that has none. Returns the assigned id, which may be that of a concurrent call. */
      assign: (tenant: string, delivery: string, file: string) =>
        Effect.orDie(sql`
          insert into delivery_files (tenant_id, delivery_id, file_id) values (${tenant}, ${delivery}, ${file})
          on conflict do nothing`).pipe(Effect.zipRight(findOr(tenant, delivery, file))),

      /** Replaces the id of a file that no longer exists. Returns the assigned id. */
      replace: (tenant: string, delivery: string, missing: string, file: string) =>
        Effect.orDie(sql`
          update delivery_files set file_id = ${file}
          where tenant_id = ${tenant} and delivery_id = ${delivery} and file_id = ${missing}`).pipe(
          Effect.zipRight(findOr(tenant, delivery, file))
        )
    }
  }).pipe(withSpans("DeliveryFiles"))
}) {}

export interface DriveDelivery {
  readonly tenant: TenantId
  readonly integration: string
  readonly delivery: string
  /** The number of the attempt. */
  readonly attempt: number
  readonly type: string
  /** The data of the event, as JSON. */
  readonly data: string
  readonly folder?: string | undefined
}

/** Shorter than the lease of a claim, so that no other worker sends the same delivery meanwhile. */
const attemptTimeout = Duration.seconds(25)
/** Timeout of the wait for the PDF. It leaves time for the upload. */
const pdfTimeout = Duration.seconds(15)
const maxStoredCharacters = 4 * 1024

const decodeInvoice = Schema.decodeUnknown(Schema.parseJson(Invoice))

const responseFieldsOf = (reply: ProviderResponse | undefined) =>
  reply === undefined ? {} : { status: reply.status, body: reply.text.slice(0, maxStoredCharacters) }

const toFailedResult = (failure: { readonly message: string }) => {
  const { isFinal, reply, retryAfter, stop } = failure instanceof DriveError ? failure : new DriveError({ message: "" })
  return { delivered: false, error: failure.message, retryAfter, stop, isFinal, ...responseFieldsOf(reply) }
}

/** Whether a failed upload certainly stored nothing: Google refused it, or it was not sent. */
const isRefused = (failure: { readonly _tag: string }) =>
  failure instanceof DriveError
    ? failure.reply !== undefined && failure.reply.status >= 400 && failure.reply.status < 500
    : failure._tag === "GrantLost" || failure._tag === "ProviderUnavailable"

/** Uploads the PDFs of finalized invoices to Google Drive. */
export class GoogleDriveSender extends Effect.Service<GoogleDriveSender>()("layers/GoogleDriveSender", {
  dependencies: [InvoicePdfs.Default, DeliveryFiles.Default, Grants.Default, UploadProofs.Default],
  scoped: Effect.gen(function* () {
    const { GOOGLE_API_URL } = yield* Settings
    const scope = yield* Effect.scope
    const api = trimTrailingSlashes(GOOGLE_API_URL)
    const pdfs = yield* InvoicePdfs
    const files = yield* DeliveryFiles
    const grants = yield* Grants
    const proofs = yield* UploadProofs

    /** Rendering continues after this attempt times out: the next attempt finds the PDF. */
    const renderPdf = (invoice: Invoice) =>
      pdfs.getIssued(invoice, "ISSUED").pipe(
        Effect.forkIn(scope),
        Effect.flatMap(Fiber.join),
        Effect.timeoutFail({
          duration: pdfTimeout,
          onTimeout: () => new DriveError({ message: "The PDF is still being rendered; the next attempt sends it" })
        }),
        Effect.flatMap(pdfs.readAll)
      )

    /** Builds the file from the event, not from the current invoice: later changes must not change the PDF. */
    const buildFile = (invoice: Invoice, { folder, tenant }: DriveDelivery) =>
      Effect.gen(function* () {
        const pdf = yield* renderPdf(invoice)
        return { name: pdfNameOf(invoice), pdf, folder, appProperties: { invoiceId: invoice.id, tenantId: tenant } }
      }).pipe(Effect.provideService(CurrentTenant, tenant))

    const begin = (attempt: UploadAttempt) =>
      Effect.filterOrFail(
        proofs.begin(attempt),
        (may) => may,
        () => new DriveError({ message: "The invoice is VOID and is not uploaded any more", isFinal: true })
      )

    /** Keeps what is known of an upload. If that fails, the file may have been stored. */
    const withProof = <A, E extends { readonly _tag: string }>(attempt: UploadAttempt, upload: Effect.Effect<A, E>) =>
      upload.pipe(
        Effect.tap(() => Effect.ignoreLogged(proofs.recordStored(attempt))),
        Effect.tapError((failure) =>
          isRefused(failure) ? Effect.ignoreLogged(proofs.recordRefused(attempt)) : Effect.void
        )
      )

    const upload = (delivery: DriveDelivery) =>
      Effect.gen(function* () {
        const { delivery: deliveryId, integration, tenant } = delivery
        const invoice = yield* Effect.orDie(decodeInvoice(delivery.data))
        const attempt = { ...delivery, invoice: invoice.id }
        const file = yield* buildFile(invoice, delivery)
        const session = yield* Effect.provideService(openProviderSession(tenant, integration), Grants, grants)
        const fileIds: FileIdStore = {
          current: files.find(tenant, deliveryId),
          save: (id: string) => files.assign(tenant, deliveryId, id),
          replace: (gone: string, id: string) => files.replace(tenant, deliveryId, gone, id)
        }
        const drive = makeGoogleDriveClient(session, api)
        return yield* withProof(attempt, uploadOnce(drive, fileIds, file, begin(attempt)))
      })

    return {
      /** Makes one attempt. Other event types count as delivered: this provider offers no subscription to them. */
      send: (delivery: DriveDelivery): Effect.Effect<SendResult> =>
        delivery.type !== "invoice.finalized"
          ? Effect.succeed({ delivered: true, latencyMs: 0 })
          : upload(delivery).pipe(
              Effect.timeoutFail({
                duration: attemptTimeout,
                onTimeout: () =>
                  new DriveError({ message: `The upload took longer than ${Duration.format(attemptTimeout)}` })
              }),
              Effect.match({
                onFailure: toFailedResult,
                onSuccess: (reply) => ({ delivered: true, ...responseFieldsOf(reply) })
              }),
              Effect.timed,
              Effect.map(([latency, result]) => ({ ...result, latencyMs: Math.round(Duration.toMillis(latency)) }))
            )
    }
  }).pipe(withSpans("GoogleDriveSender"))
}) {}
