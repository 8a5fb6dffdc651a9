import * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import { fieldError, NotFound, PreconditionFailed } from "../../domain/Errors.ts"
import { prefixOf } from "../../domain/Ids.ts"
import {
  type CreateSubscription,
  requireNewSubscription,
  requireSupportedEvent,
  resolveScopeKey
} from "../../domain/integrations/CreateSubscription.ts"
import { type Subscription, SubscriptionId } from "../../domain/integrations/Subscription.ts"
import type { PageRequest } from "../../domain/Paging.ts"
import { CurrentTenant, IfMatch } from "../../domain/tenancy/RequestContext.ts"
import { inTransaction } from "../infra/postgres/connection/Transactions.ts"
import { makeId } from "../infra/postgres/IdGenerator.ts"
import { isPreconditionMet } from "../infra/postgres/repository/ResourceWriter.ts"
import { withSpans } from "../infra/telemetry/UseCaseSpans.ts"
import { Quotas } from "../quotas/Quotas.ts"
import { Integrations } from "./Integrations.ts"

interface SubscriptionPath {
  readonly integrationId: string
  readonly subscriptionId: string
}

const findById = (subscriptions: ReadonlyArray<Subscription>, id: string) => {
  const found = subscriptions.find((one) => one.id === id)
  return found === undefined ? Effect.fail(new NotFound()) : Effect.succeed(found)
}

/** Subscriptions of integrations. They are part of the integration, and also rows of a table that the fan-out queries by event. */
export class Subscriptions extends Effect.Service<Subscriptions>()("layers/Subscriptions", {
  dependencies: [Integrations.Default, Quotas.Default],
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const integrations = yield* Integrations
    const quotas = yield* Quotas

    /** Locks the client against a concurrent deletion. */
    const lockClient = (clientId: string) =>
      Effect.flatMap(CurrentTenant, (tenant) =>
        Effect.orDie(sql<object>`
          select 1 from clients where tenant_id = ${tenant} and id = ${clientId} for key share`)
      ).pipe(
        Effect.filterOrFail(
          (rows) => rows.length === 1,
          () => fieldError("clientId", "exists", "does not exist in this tenant")
        )
      )

    const insertCte = (integration: string, { clientId, eventType, id, scopeKey }: Subscription) =>
      Effect.map(
        CurrentTenant,
        (tenant) => sql`subscribed as (
          insert into subscriptions (tenant_id, id, integration_id, event_type, scope_key, client_id)
          values (${tenant}, ${id}, ${integration}, ${eventType}, ${scopeKey}, ${clientId ?? null}))`
      )

    const deleteCte = (integration: string, id: string) =>
      Effect.map(
        CurrentTenant,
        (tenant) => sql`unsubscribed as (
          delete from subscriptions
          where tenant_id = ${tenant} and integration_id = ${integration} and id = ${id})`
      )

    return {
      add: (integrationId: string, fields: CreateSubscription) =>
        Effect.gen(function* () {
          const seen = yield* integrations.lockForUpdate(integrationId)
          const scopeKey = yield* resolveScopeKey(fields)
          const { clientId, eventType } = fields
          if (clientId !== undefined) yield* lockClient(clientId)
          const { subscriptions } = seen.value
          const subject = { eventType, scopeKey, ...(clientId === undefined ? {} : { clientId }) }
          yield* requireSupportedEvent(seen.value.provider, eventType)
          yield* requireNewSubscription(subscriptions, subject, quotas.maxOf("subscriptions"))
          const added = { id: SubscriptionId.make(makeId(prefixOf(SubscriptionId))), ...subject }
          const next = { ...seen.value, subscriptions: [...subscriptions, added] }
          const extraCtes = [yield* insertCte(integrationId, added)]
          yield* integrations.updateLocked(seen, "updated", next, { extraCtes, commit: true })
          return added
        }).pipe(inTransaction(sql)),

      /** One page in the order of ids, plus one row if there is a next page. */
      page: (integrationId: string, { after, limit }: PageRequest) =>
        Effect.map(integrations.get(integrationId), ({ subscriptions }) =>
          subscriptions
            .filter(({ id }) => id > (after?.id ?? ""))
            .toSorted((a, b) => (a.id < b.id ? -1 : 1))
            .slice(0, limit + 1)
        ),

      get: ({ integrationId, subscriptionId }: SubscriptionPath) =>
        Effect.flatMap(integrations.get(integrationId), ({ subscriptions }) => findById(subscriptions, subscriptionId)),

      remove: ({ integrationId, subscriptionId }: SubscriptionPath) =>
        Effect.gen(function* () {
          const seen = yield* integrations.lockForUpdate(integrationId)
          const { subscriptions } = seen.value
          const found = yield* findById(subscriptions, subscriptionId)
          if (!isPreconditionMet(yield* IfMatch, found)) return yield* Effect.fail(new PreconditionFailed())
          const next = { ...seen.value, subscriptions: subscriptions.filter((one) => one !== found) }
          const extraCtes = [yield* deleteCte(integrationId, subscriptionId)]
          yield* integrations.updateLocked(seen, "updated", next, { extraCtes, commit: true })
        }).pipe(inTransaction(sql))
    }
  }).pipe(withSpans("Subscriptions"))
}) {}
