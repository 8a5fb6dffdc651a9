import type { SqlClient } from "@effect/sql/SqlClient"
import { Effect, Layer } from "effect"
import { BlobStoreLive } from "../../layers/blobs/BlobStoreLive.ts"
import { Assets } from "../../layers/branding/Assets.ts"
import { Blobs } from "../../layers/branding/Blobs.ts"
import { DeletedIntegrations } from "../../layers/delivery/DeletedIntegrations.ts"
import { Retention } from "../../layers/delivery/Retention.ts"
import { GivingBack } from "../../layers/integrations/authorization/GivingBack.ts"
import { OAuthStates } from "../../layers/integrations/authorization/OAuthStates.ts"
import { failLongFailing } from "../../layers/integrations/Failing.ts"
import { Integrations } from "../../layers/integrations/Integrations.ts"
import { TrackerUpkeep } from "../../layers/integrations/jiraWebhooks/TrackerUpkeep.ts"
import { WebhookEndpoints } from "../../layers/integrations/WebhookEndpoints.ts"
import { InvoiceFileQueue } from "../../layers/invoicing/InvoiceFileQueue.ts"
import { InvoicePdfs } from "../../layers/invoicing/InvoicePdfs.ts"
import { Invoices } from "../../layers/invoicing/Invoices.ts"
import { batchSize, untilFewer } from "../../layers/postgres/Batches.ts"
import { Erasure } from "../../layers/tenancy/Erasure.ts"
import { IdempotencyKeys } from "../../layers/tenancy/IdempotencyKeys.ts"
import { InboundRetention } from "../../layers/tracker/InboundRetention.ts"
import { forEver } from "../ForEver.ts"
import { keepInvoiceFiles } from "./InvoiceFiles.ts"
import { keepTrackers } from "./Trackers.ts"

/** Of what others may have to be told of, who may be slow. */
const fewer = 50

/** Between two rounds of one kind of upkeep. */
const pause = "1 minute"

type Round = Effect.Effect<void, never, SqlClient>

/** Every kind of upkeep, each safe in several copies: a round ends when there is nothing left to do. */
const upkeep = Effect.gen(function* () {
  const inbound = yield* InboundRetention
  const retention = yield* Retention
  const { fail } = yield* Integrations
  const { removeNext } = yield* DeletedIntegrations
  const assets = yield* Assets
  const erasure = yield* Erasure
  const erasing = Effect.tap(erasure.next, (tenant) =>
    tenant === undefined ? Effect.void : Effect.logInfo(`Erased tenant ${tenant}`)
  )
  return {
    "idempotency keys": untilFewer(batchSize, (yield* IdempotencyKeys).purge),
    "OAuth states": untilFewer(batchSize, (yield* OAuthStates).sweep),
    "unconfirmed grants": untilFewer(fewer, (yield* GivingBack).sweep),
    "webhook endpoints": untilFewer(batchSize, (yield* WebhookEndpoints).sweep),
    "bodies of inbound webhooks": untilFewer(batchSize, inbound.empty),
    "inbound webhooks": untilFewer(batchSize, inbound.forget),
    "answers of receivers": untilFewer(batchSize, retention.emptyAttempts),
    secrets: untilFewer(batchSize, retention.forgetSecrets),
    "failing integrations": failLongFailing(fail),
    "deleted integrations": Effect.asVoid(Effect.repeat(removeNext, { while: (wasAny) => wasAny })),
    events: retention.forgetEvents,
    assets: untilFewer(batchSize, (max) => Effect.orDie(assets.sweep(max))),
    blobs: untilFewer(batchSize, (yield* Blobs).sweep),
    "deleted tenants": Effect.asVoid(Effect.repeat(erasing, { while: (tenant) => tenant !== undefined }))
  } satisfies Record<string, Round>
})

/** One round of every kind, one after the other. One that fails keeps none from its turn. */
export const tidy = Effect.gen(function* () {
  const rounds = yield* Effect.forEach(Object.values<Round>(yield* upkeep), (round) => Effect.exit(round))
  for (const round of rounds) yield* round
})

/** What a round of upkeep works with. */
export const JanitorTools = Layer.mergeAll(
  IdempotencyKeys.Default,
  Erasure.Default,
  Assets.Default,
  Blobs.Default,
  Retention.Default,
  Integrations.Default,
  DeletedIntegrations.Default,
  OAuthStates.Default,
  GivingBack.Default,
  WebhookEndpoints.Default,
  InboundRetention.Default
)

/** What files are drawn with. */
export const FileDrawingTools = Layer.mergeAll(InvoicePdfs.Default, InvoiceFileQueue.Default, Invoices.Default)

/** Each kind of upkeep goes at its own pace, so that none waits for one that fails or takes long. */
const keepTidy = Effect.gen(function* () {
  for (const [name, round] of Object.entries<Round>(yield* upkeep)) {
    yield* Effect.forkScoped(forEver(`Upkeep of ${name}`, Effect.zipRight(round, Effect.sleep(pause))))
  }
})

export const JanitorLive = Layer.scopedDiscard(
  keepTidy.pipe(Effect.zipRight(keepTrackers), Effect.zipRight(keepInvoiceFiles))
).pipe(Layer.provide([JanitorTools, TrackerUpkeep.Default, FileDrawingTools]), Layer.provide(BlobStoreLive))
