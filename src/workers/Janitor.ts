import { Effect, Layer, Schedule } from "effect"
import { BlobStoreLive } from "../layers/blobs/BlobStoreLive.ts"
import { InvoicePdfs } from "../layers/pdf/InvoicePdfs.ts"
import { TrackerUpkeep } from "../layers/providers/tracker/TrackerUpkeep.ts"
import { Assets } from "../layers/sql/branding/Assets.ts"
import { Blobs } from "../layers/sql/branding/Blobs.ts"
import { Retention } from "../layers/sql/delivery/Retention.ts"
import { Erasure } from "../layers/sql/Erasure.ts"
import { IdempotencyKeys } from "../layers/sql/IdempotencyKeys.ts"
import { GivingBack } from "../layers/sql/integrations/authorization/GivingBack.ts"
import { OAuthStates } from "../layers/sql/integrations/authorization/OAuthStates.ts"
import { failLongFailing } from "../layers/sql/integrations/Failing.ts"
import { Integrations } from "../layers/sql/integrations/Integrations.ts"
import { WebhookEndpoints } from "../layers/sql/integrations/WebhookEndpoints.ts"
import { InvoiceFileQueue } from "../layers/sql/invoicing/InvoiceFileQueue.ts"
import { Invoices } from "../layers/sql/invoicing/Invoices.ts"
import { InboundRetention } from "../layers/sql/tracker/InboundRetention.ts"
import { keepInvoiceFiles } from "./InvoiceFiles.ts"
import { keepTrackers } from "./Trackers.ts"

const batch = 1000
/** Of what others may have to be told of, who may be slow. */
const fewer = 50

/** Repeats a bounded step until it finds nothing left to do. */
const untilDone = <A, E, R>(step: Effect.Effect<A, E, R>, isDone: (result: A) => boolean) =>
  Effect.repeat(step, { until: isDone })

/** Timed upkeep, safe in several copies: every step takes what no other copy has taken. */
export const tidy = Effect.gen(function* () {
  const keys = yield* IdempotencyKeys
  const erasure = yield* Erasure
  const retention = yield* Retention
  const inbound = yield* InboundRetention
  yield* untilDone(keys.purge(batch), (purged) => purged < batch)
  yield* untilDone((yield* OAuthStates).sweep(batch), (swept) => swept < batch)
  yield* untilDone((yield* GivingBack).sweep(fewer), (swept) => swept < fewer)
  yield* untilDone((yield* WebhookEndpoints).sweep(batch), (swept) => swept < batch)
  yield* untilDone(inbound.empty(batch), (emptied) => emptied < batch)
  yield* untilDone(inbound.forget(batch), (forgotten) => forgotten < batch)
  yield* untilDone(retention.emptyAttempts(batch), (emptied) => emptied < batch)
  yield* untilDone(retention.forgetSecrets(batch), (forgotten) => forgotten < batch)
  yield* failLongFailing((yield* Integrations).fail)
  yield* untilDone(retention.forgetEvents(batch), (forgotten) => forgotten < batch)
  yield* untilDone((yield* Assets).sweep(batch), (swept) => swept < batch)
  yield* untilDone((yield* Blobs).sweep(batch), (swept) => swept < batch)
  yield* untilDone(
    Effect.tap(erasure.next, (tenant) =>
      tenant === undefined ? Effect.void : Effect.logInfo(`Erased tenant ${tenant}`)
    ),
    (tenant) => tenant === undefined
  )
})

/** What a round of upkeep works with. */
export const JanitorTools = Layer.mergeAll(
  IdempotencyKeys.Default,
  Erasure.Default,
  Assets.Default,
  Blobs.Default,
  Retention.Default,
  Integrations.Default,
  OAuthStates.Default,
  GivingBack.Default,
  WebhookEndpoints.Default,
  InboundRetention.Default
)

/** What files are drawn with. */
export const FileDrawingTools = Layer.mergeAll(InvoicePdfs.Default, InvoiceFileQueue.Default, Invoices.Default)

export const JanitorLive = Layer.scopedDiscard(
  tidy.pipe(
    // A failed round is told and made up for by the next.
    Effect.catchAllCause((cause) => Effect.logWarning("A round of upkeep failed", cause)),
    Effect.repeat(Schedule.spaced("1 minute")),
    Effect.forkScoped,
    Effect.zipRight(keepTrackers),
    Effect.zipRight(keepInvoiceFiles)
  )
).pipe(Layer.provide([JanitorTools, TrackerUpkeep.Default, FileDrawingTools]), Layer.provide(BlobStoreLive))
