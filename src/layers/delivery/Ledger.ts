import * as SqlClient from "@effect/sql/SqlClient"
import type { Fragment } from "@effect/sql/Statement"
import { Effect } from "effect"
import {
  Delivery,
  DeliveryAttempt,
  type DeliveryInFull,
  type DeliveryStatus,
  type Redelivery,
  shownAttempts
} from "../../domain/delivery/Delivery.ts"
import { breaks, NotFound, PreconditionFailed } from "../../domain/Errors.ts"
import { etagOf } from "../../domain/Etag.ts"
import type { Window } from "../../domain/Paging.ts"
import { CurrentTenant, IfMatch } from "../../domain/tenancy/Caller.ts"
import { makeIsThere, ofPresentIntegration } from "../integrations/IsThere.ts"
import { atomically, consistently } from "../postgres/connection/Transaction.ts"
import { present, type Row, type Shape, selectList } from "../postgres/repository/Columns.ts"
import { makeReading } from "../postgres/repository/ResourceReading.ts"
import { makeRedeliveries } from "./Redeliveries.ts"
import { makeRedelivering } from "./Redelivering.ts"

interface Filter {
  readonly status?: DeliveryStatus | undefined
  /** A type of events, or `<resource>.*`. */
  readonly eventType?: string | undefined
  readonly since?: string | undefined
  readonly until?: string | undefined
}

const deliveries: Shape = { table: "deliveries", fields: Delivery.fields, relations: ["integration", "event"] }
const attempts: Shape = { table: "delivery_attempts", fields: DeliveryAttempt.fields }

/** What became of every event that was for an integration, and sending it once more. */
export class Ledger extends Effect.Service<Ledger>()("layers/Ledger", {
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const reading = makeReading<Delivery>(sql, deliveries, { tenantColumn: "tenant_id", visible: ofPresentIntegration })
    const redelivering = makeRedelivering(sql)
    const redeliveries = makeRedeliveries(sql)
    const attemptColumns = sql.literal(selectList(attempts))

    const isThere = makeIsThere(sql)

    const ofType = (eventType: string) =>
      eventType.endsWith(".*")
        ? sql`starts_with(this.event_type, ${eventType.slice(0, -1)})`
        : sql`this.event_type = ${eventType}`

    const matching = ({ eventType, since, until }: Filter) =>
      [
        ...(eventType === undefined ? [] : [ofType(eventType)]),
        ...(since === undefined ? [] : [sql`this.created_at >= ${since}::timestamptz`]),
        ...(until === undefined ? [] : [sql`this.created_at <= ${until}::timestamptz`])
      ].reduce<Fragment>((all, one) => sql`${all} and ${one}`, sql.literal("true"))

    const logOf = (tenant: string, id: string) =>
      Effect.map(
        sql<Row>`
          select ${attemptColumns} from (
            select * from delivery_attempts where tenant_id = ${tenant} and delivery_id = ${id}
            order by number desc limit ${shownAttempts}
          ) this order by number`,
        // The columns are named after the schema's fields, and the table checks their values.
        (rows) => rows.map((row) => present(row) as DeliveryAttempt)
      )

    const inFull = Effect.fnUntraced(function* (integration: string, id: string) {
      const tenant = yield* CurrentTenant
      const [delivery] = yield* reading.select(sql`
        deliveries this where ${reading.inTenant(tenant)} and this.integration_id = ${integration} and this.id = ${id}`)
      if (delivery === undefined) return yield* Effect.fail(new NotFound())
      const attemptLog = yield* Effect.orDie(logOf(tenant, id))
      return { ...delivery, attemptLog } satisfies DeliveryInFull
    })

    const accepted = (delivery: DeliveryInFull) =>
      Effect.filterOrFail(
        IfMatch,
        (tags) => tags === undefined || tags.includes("*") || tags.includes(etagOf(delivery)),
        () => new PreconditionFailed()
      )

    return {
      page: (integration: string, window: Window, { status, ...filter }: Filter) =>
        reading
          .page(window, { integration, status }, matching(filter))
          .pipe(Effect.tap((rows) => (rows.length === 0 ? isThere(integration) : Effect.void))),

      get: (integration: string, id: string) => consistently(sql)(inFull(integration, id)),

      /** Sends one again; one that is not finished is not kept waiting for its time. */
      redeliver: (integration: string, id: string) =>
        Effect.gen(function* () {
          const tenant = yield* CurrentTenant
          yield* inFull(integration, id)
          const lane = yield* redelivering.hold(tenant, integration, id)
          yield* Effect.flatMap(inFull(integration, id), accepted)
          yield* redelivering.one(lane, id)
          return yield* inFull(integration, id)
        }).pipe(atomically(sql)),

      /** Sends every finished one of a time again; tells how many so far, and whether those are all. */
      redeliverAll: Effect.fnUntraced(function* (integration: string, which: Redelivery) {
        if (which.until !== undefined && which.until < which.since) {
          return yield* Effect.fail(breaks("until", "min", "must not be before since"))
        }
        return yield* redeliveries.begin(yield* CurrentTenant, integration, which)
      })
    }
  })
}) {}
