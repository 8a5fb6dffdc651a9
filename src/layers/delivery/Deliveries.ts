import * as SqlClient from "@effect/sql/SqlClient"
import type { Fragment } from "@effect/sql/Statement"
import { Effect } from "effect"
import {
  Delivery,
  DeliveryAttempt,
  type DeliveryStatus,
  type DeliveryWithAttempts,
  type deliverySorts,
  maxShownAttempts,
  type Redelivery,
  requirePeriod
} from "../../domain/delivery/Delivery.ts"
import { NotFound, PreconditionFailed } from "../../domain/Errors.ts"
import { etagOf } from "../../domain/Etag.ts"
import type { PageRequest, Sort } from "../../domain/Paging.ts"
import { CurrentTenant, IfMatch } from "../../domain/tenancy/RequestContext.ts"
import { inSnapshot, inTransaction } from "../infra/postgres/connection/Transactions.ts"
import { omitNulls, type Row, selectList, type TableShape } from "../infra/postgres/repository/Columns.ts"
import { byAge } from "../infra/postgres/repository/Keyset.ts"
import { makeResourceReader } from "../infra/postgres/repository/ResourceReader.ts"
import { withSpans } from "../infra/telemetry/UseCaseSpans.ts"
import { integrationExistsSql, makeRequireIntegration } from "../integrations/IntegrationGuard.ts"
import { makeBulkRedeliveries } from "./redelivery/BulkRedeliveries.ts"
import { makeSingleRedelivery } from "./redelivery/SingleRedelivery.ts"

type DeliverySort = (typeof deliverySorts)[number]

interface Filter {
  readonly status?: DeliveryStatus | undefined
  /** An event type, or `<resource>.*`. */
  readonly eventType?: string | undefined
  readonly since?: string | undefined
  readonly until?: string | undefined
  readonly sort?: Sort<DeliverySort> | undefined
}

const deliveryShape: TableShape = { table: "deliveries", fields: Delivery.fields, relations: ["integration", "event"] }
const attemptShape: TableShape = { table: "delivery_attempts", fields: DeliveryAttempt.fields }

/** The deliveries of an integration with their attempts, and their redelivery. */
export class Deliveries extends Effect.Service<Deliveries>()("layers/Deliveries", {
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const scope = { tenantColumn: "tenant_id", visible: integrationExistsSql }
    const reading = makeResourceReader<Delivery>(sql, deliveryShape, scope, {
      createdAt: byAge
    } satisfies Record<DeliverySort, unknown>)
    const singleRedelivery = makeSingleRedelivery(sql)
    const bulkRedeliveries = makeBulkRedeliveries(sql)
    const attemptColumns = sql.literal(selectList(attemptShape))

    const requireIntegration = makeRequireIntegration(sql)

    const eventTypeSql = (eventType: string) =>
      eventType.endsWith(".*")
        ? sql`starts_with(this.event_type, ${eventType.slice(0, -1)})`
        : sql`this.event_type = ${eventType}`

    const filterSql = ({ eventType, since, until }: Filter) =>
      [
        ...(eventType === undefined ? [] : [eventTypeSql(eventType)]),
        ...(since === undefined ? [] : [sql`this.created_at >= ${since}::timestamptz`]),
        ...(until === undefined ? [] : [sql`this.created_at <= ${until}::timestamptz`])
      ].reduce<Fragment>((all, one) => sql`${all} and ${one}`, sql.literal("true"))

    const loadAttempts = (tenant: string, id: string) =>
      Effect.map(
        sql<Row>`
          select ${attemptColumns} from (
            select * from delivery_attempts where tenant_id = ${tenant} and delivery_id = ${id}
            order by number desc limit ${maxShownAttempts}
          ) this order by number`,
        // The columns have the names of the schema's fields, and constraints of the table check their values.
        (rows) => rows.map((row) => omitNulls(row) as DeliveryAttempt)
      )

    /** The attempts of several deliveries, each with its delivery. */
    const loadAttemptsOf = (tenant: string, ids: ReadonlyArray<string>) =>
      Effect.map(
        sql<Row & { readonly delivery: string }>`
          select ${attemptColumns}, this.delivery_id as delivery
          from json_array_elements_text(${JSON.stringify(ids)}::json) as wanted (id) cross join lateral (
            select * from delivery_attempts where tenant_id = ${tenant} and delivery_id = wanted.id
            order by number desc limit ${maxShownAttempts}
          ) this order by number`,
        // As in loadAttempts.
        (rows) => rows.map(({ delivery, ...row }) => ({ delivery, attempt: omitNulls(row) as DeliveryAttempt }))
      )

    const loadExpanded = Effect.fnUntraced(function* (integration: string, id: string) {
      const tenant = yield* CurrentTenant
      const [delivery] = yield* reading.select(sql`
        deliveries this where ${reading.inTenant(tenant)} and this.integration_id = ${integration} and this.id = ${id}`)
      if (delivery === undefined) return yield* Effect.fail(new NotFound())
      const attemptLog = yield* Effect.orDie(loadAttempts(tenant, id))
      return { ...delivery, attemptLog } satisfies DeliveryWithAttempts
    })

    const requireMatch = (delivery: DeliveryWithAttempts) =>
      Effect.filterOrFail(
        IfMatch,
        (tags) => tags === undefined || tags.includes("*") || tags.includes(etagOf(delivery)),
        () => new PreconditionFailed()
      )

    return {
      /** One page of deliveries to all integrations, with their attempts, in the order of creation. */
      pageByAge: Effect.fnUntraced(function* (after: string | undefined, limit: number) {
        const deliveries = yield* reading.pageByAge(after, limit)
        const ids = deliveries.map(({ id }) => id)
        const attempts = yield* Effect.orDie(loadAttemptsOf(yield* CurrentTenant, ids))
        return deliveries.map((delivery): DeliveryWithAttempts => {
          const own = attempts.filter((one) => one.delivery === delivery.id)
          return { ...delivery, attemptLog: own.map(({ attempt }) => attempt) }
        })
      }),

      page: (integration: string, window: PageRequest, { sort, status, ...filter }: Filter) =>
        reading
          .page(window, { integration, status }, filterSql(filter), sort)
          .pipe(Effect.tap((rows) => (rows.length === 0 ? requireIntegration(integration) : Effect.void))),

      get: (integration: string, id: string) => inSnapshot(sql)(loadExpanded(integration, id)),

      /** Redelivers one delivery. An unfinished one becomes due at once. */
      redeliver: (integration: string, id: string) =>
        Effect.gen(function* () {
          const tenant = yield* CurrentTenant
          yield* loadExpanded(integration, id)
          const orderingKey = yield* singleRedelivery.lock(tenant, integration, id)
          yield* Effect.flatMap(loadExpanded(integration, id), requireMatch)
          yield* singleRedelivery.redeliver(orderingKey, id)
          return yield* loadExpanded(integration, id)
        }).pipe(inTransaction(sql)),

      /** Redelivers all finished deliveries of a period. Returns the number so far, and whether that is complete. */
      redeliverAll: Effect.fnUntraced(function* (integration: string, which: Redelivery) {
        yield* requirePeriod(which)
        return yield* bulkRedeliveries.start(yield* CurrentTenant, integration, which)
      })
    }
  }).pipe(withSpans("Deliveries"))
}) {}
