import * as SqlClient from "@effect/sql/SqlClient"
import type { Fragment } from "@effect/sql/Statement"
import { Effect } from "effect"
import { NotFound, PreconditionFailed } from "../../domain/Errors.ts"
import type { PageRequest, Sort } from "../../domain/Paging.ts"
import { CurrentTenant, IfMatch } from "../../domain/tenancy/RequestContext.ts"
import {
  type InboundStatus,
  InboundWebhook,
  InboundWebhookWithBody,
  type inboundSorts,
  requireReplayable
} from "../../domain/trackers/InboundWebhook.ts"
import { inTransaction } from "../infra/postgres/connection/Transactions.ts"
import type { TableShape } from "../infra/postgres/repository/Columns.ts"
import { byAge } from "../infra/postgres/repository/Keyset.ts"
import { makeResourceReader } from "../infra/postgres/repository/ResourceReader.ts"
import { isPreconditionMet } from "../infra/postgres/repository/ResourceWriter.ts"
import { withSpans } from "../infra/telemetry/UseCaseSpans.ts"
import { integrationExistsSql, makeRequireIntegration } from "../integrations/IntegrationGuard.ts"

type InboundSort = (typeof inboundSorts)[number]

interface Filter {
  readonly status?: InboundStatus | undefined
  readonly since?: string | undefined
  readonly until?: string | undefined
  readonly sort?: Sort<InboundSort> | undefined
}

const scope = { tenantColumn: "tenant_id", visible: integrationExistsSql }
const summaryShape: TableShape = {
  table: "inbound_webhooks",
  fields: InboundWebhook.fields,
  relations: ["integration"]
}
const fullShape: TableShape = { ...summaryShape, fields: InboundWebhookWithBody.fields }

/** Lists inbound webhooks with their status, and replays them. */
export class InboundWebhooks extends Effect.Service<InboundWebhooks>()("layers/InboundWebhooks", {
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const reading = makeResourceReader<InboundWebhook>(sql, summaryShape, scope, {
      receivedAt: byAge
    } satisfies Record<InboundSort, unknown>)
    const readingFull = makeResourceReader<InboundWebhookWithBody>(sql, fullShape, scope)
    const requireIntegration = makeRequireIntegration(sql)

    const receivedBetween = ({ since, until }: Filter) =>
      [
        ...(since === undefined ? [] : [sql`this.received_at >= ${since}::timestamptz`]),
        ...(until === undefined ? [] : [sql`this.received_at <= ${until}::timestamptz`])
      ].reduce<Fragment>((all, one) => sql`${all} and ${one}`, sql.literal("true"))

    const getFull = (integration: string, id: string, lock = "") =>
      Effect.flatMap(CurrentTenant, (tenant) =>
        readingFull.select(sql`
          inbound_webhooks this where ${readingFull.inTenant(tenant)} and this.integration_id = ${integration}
            and this.id = ${id} ${sql.literal(lock)}`)
      ).pipe(Effect.flatMap(([found]) => (found === undefined ? Effect.fail(new NotFound()) : Effect.succeed(found))))

    const resetToReceived = (id: string) =>
      Effect.flatMap(CurrentTenant, (tenant) =>
        Effect.orDie(sql`
          update inbound_webhooks set status = 'RECEIVED', attempts = 0, error = null, processed_at = null
          where tenant_id = ${tenant} and id = ${id}`)
      )

    return {
      /** One page with bodies, in the order of creation. */
      pageByAge: readingFull.pageByAge,

      page: (integration: string, window: PageRequest, { sort, status, ...filter }: Filter) =>
        reading
          .page(window, { integration, status }, receivedBetween(filter), sort)
          .pipe(Effect.tap((rows) => (rows.length === 0 ? requireIntegration(integration) : Effect.void))),

      get: (integration: string, id: string) => getFull(integration, id),

      /** Makes a webhook pending again. The processor treats it like a new one: it does not overwrite newer changes. */
      replay: (integration: string, id: string) =>
        Effect.gen(function* () {
          const found = yield* getFull(integration, id, "for update of this")
          if (!isPreconditionMet(yield* IfMatch, found)) return yield* Effect.fail(new PreconditionFailed())
          yield* requireReplayable(found)
          yield* resetToReceived(id)
          return yield* getFull(integration, id)
        }).pipe(inTransaction(sql))
    }
  }).pipe(withSpans("InboundWebhooks"))
}) {}
