import type { SqlClient } from "@effect/sql/SqlClient"
import { Effect, Layer } from "effect"
import { Assets } from "../../layers/branding/Assets.ts"
import { Blobs } from "../../layers/branding/Blobs.ts"
import { CreditNotePdfs } from "../../layers/creditNotes/CreditNotePdfs.ts"
import { CreditNotes } from "../../layers/creditNotes/CreditNotes.ts"
import { DeletedIntegrations } from "../../layers/delivery/retention/DeletedIntegrations.ts"
import { Retention } from "../../layers/delivery/retention/Retention.ts"
import { Erasure } from "../../layers/erasure/Erasure.ts"
import { BlobStoreLive } from "../../layers/infra/blobs/BlobStoreLive.ts"
import { batchSize, drainInBatches } from "../../layers/infra/postgres/Batches.ts"
import { OAuthStates } from "../../layers/integrations/authorization/OAuthStates.ts"
import { TokenRevocation } from "../../layers/integrations/authorization/TokenRevocation.ts"
import { failUnreachableIntegrations } from "../../layers/integrations/FailingIntegrations.ts"
import { InboundEndpoints } from "../../layers/integrations/InboundEndpoints.ts"
import { Integrations } from "../../layers/integrations/Integrations.ts"
import { InvoiceFileQueue } from "../../layers/invoicing/document/InvoiceFileQueue.ts"
import { InvoicePdfs } from "../../layers/invoicing/document/InvoicePdfs.ts"
import { Invoices } from "../../layers/invoicing/Invoices.ts"
import { IdempotencyKeys } from "../../layers/tenancy/IdempotencyKeys.ts"
import { InboundRetention } from "../../layers/trackers/InboundRetention.ts"
import { JiraWebhookReconciler } from "../../layers/trackers/jira/JiraWebhookReconciler.ts"
import { runForever } from "../RunForever.ts"
import { startInvoiceFileRenderer } from "./InvoiceFileRenderer.ts"

/** A round ends when nothing is left to do. A restart loses nothing: the next one goes on where it ended. */
const longRounds = { stalledAfter: "1 hour" } as const

const newIntegrationInterval = "2 seconds"
const checksPerRound = 30

/**
 * Keeps our webhooks registered in Jira. Of several janitors only the leader does this. New integrations do not wait
 * for a round.
 */
export const startJiraWebhookReconciler = Effect.gen(function* () {
  const reconciler = yield* JiraWebhookReconciler
  yield* Effect.addFinalizer(() => Effect.ignoreLogged(reconciler.releaseLease))
  const registerNew = Effect.repeatN(
    Effect.zipRight(Effect.sleep(newIntegrationInterval), reconciler.registerNew),
    checksPerRound - 1
  )
  yield* Effect.forkScoped(
    runForever("Jira webhook reconciliation", Effect.zipRight(reconciler.reconcileAll, registerNew), longRounds)
  )
})

/** Batch size where each row may need a call to a slow provider. */
const remoteBatchSize = 50

/** Pause between two rounds of one task. */
const roundInterval = "1 minute"

type Round = Effect.Effect<void, never, SqlClient>

/** Every cleanup task. Each is safe to run in several janitors at once. A round ends when nothing is left to do. */
const makeTasks = Effect.gen(function* () {
  const inbound = yield* InboundRetention
  const retention = yield* Retention
  const { fail } = yield* Integrations
  const { removeNext } = yield* DeletedIntegrations
  const assets = yield* Assets
  const erasure = yield* Erasure
  const eraseNext = Effect.tap(erasure.eraseNext, (tenant) =>
    tenant === undefined ? Effect.void : Effect.logInfo(`Erased tenant ${tenant}`)
  )
  return {
    "idempotency keys": drainInBatches(batchSize, (yield* IdempotencyKeys).purge),
    "OAuth states": drainInBatches(batchSize, (yield* OAuthStates).sweep),
    "unconfirmed grants": drainInBatches(remoteBatchSize, (yield* TokenRevocation).sweep),
    "webhook endpoints": drainInBatches(batchSize, (yield* InboundEndpoints).sweep),
    "bodies of inbound webhooks": drainInBatches(batchSize, inbound.deleteBodies),
    "inbound webhooks": drainInBatches(batchSize, inbound.deleteExpired),
    "response bodies of receivers": drainInBatches(batchSize, retention.clearAttemptPayloads),
    secrets: drainInBatches(batchSize, retention.deleteExpiredSecrets),
    "failing integrations": failUnreachableIntegrations(fail),
    "deleted integrations": Effect.asVoid(Effect.repeat(removeNext, { while: (hasRemoved) => hasRemoved })),
    events: retention.deleteEvents,
    assets: drainInBatches(batchSize, (max) => Effect.orDie(assets.deleteStale(max))),
    blobs: drainInBatches(batchSize, (yield* Blobs).deleteAbandonedUploads),
    "deleted tenants": Effect.asVoid(Effect.repeat(eraseNext, { while: (tenant) => tenant !== undefined }))
  } satisfies Record<string, Round>
})

/**
 * Runs one round of every task in sequence. A failing task does not stop the others; its failure is reported at the
 * end.
 */
export const runCleanupRound = Effect.gen(function* () {
  const rounds = yield* Effect.forEach(Object.values<Round>(yield* makeTasks), (round) => Effect.exit(round))
  for (const round of rounds) yield* round
})

/** The services that the cleanup tasks need. */
export const JanitorDependencies = Layer.mergeAll(
  IdempotencyKeys.Default,
  Erasure.Default,
  Assets.Default,
  Blobs.Default,
  Retention.Default,
  Integrations.Default,
  DeletedIntegrations.Default,
  OAuthStates.Default,
  TokenRevocation.Default,
  InboundEndpoints.Default,
  InboundRetention.Default
)

/** The services that rendering needs. */
export const InvoiceRenderingDependencies = Layer.mergeAll(
  InvoicePdfs.Default,
  CreditNotes.Default,
  CreditNotePdfs.Default,
  InvoiceFileQueue.Default,
  Invoices.Default
)

/** Each task runs in a fiber of its own, so that a slow or failing task does not delay the others. */
const startTasks = Effect.gen(function* () {
  for (const [name, round] of Object.entries<Round>(yield* makeTasks)) {
    yield* Effect.forkScoped(
      runForever(`Cleanup of ${name}`, Effect.zipRight(round, Effect.sleep(roundInterval)), longRounds)
    )
  }
})

export const JanitorLive = Layer.scopedDiscard(
  startTasks.pipe(Effect.zipRight(startJiraWebhookReconciler), Effect.zipRight(startInvoiceFileRenderer))
).pipe(
  Layer.provide([JanitorDependencies, JiraWebhookReconciler.Default, InvoiceRenderingDependencies]),
  Layer.provide(BlobStoreLive)
)
