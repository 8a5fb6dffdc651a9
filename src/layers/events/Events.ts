import * as SqlClient from "@effect/sql/SqlClient"
import type { Fragment } from "@effect/sql/Statement"
import { Effect } from "effect"
import { EncodedJson } from "../../domain/EncodedJson.ts"
import { fieldError, NotFound } from "../../domain/Errors.ts"
import { type Event, eventFields } from "../../domain/events/Event.ts"
import { type EventPattern, expandEventPattern } from "../../domain/events/EventCatalogue.ts"
import { CurrentTenant } from "../../domain/tenancy/RequestContext.ts"
import { columnOf, type TableShape } from "../infra/postgres/repository/Columns.ts"
import { buildJsonSql } from "../infra/postgres/repository/JsonSql.ts"
import { withSpans } from "../infra/telemetry/UseCaseSpans.ts"

const shape: TableShape = { table: "events", fields: eventFields, relations: ["tenant", "client"] }

/** The field `timestamp` is stored in `occurred_at`. */
const qualifiedColumnOf = (field: string) => (field === "timestamp" ? "e.occurred_at" : `e.${columnOf(shape, field)}`)

interface FeedQuery {
  readonly after?: string | undefined
  readonly type?: EventPattern | undefined
  readonly order?: "asc" | "desc" | undefined
  readonly limit: number
}

/** An event as JSON. `data` keeps its stored text byte for byte. */
interface EventRow {
  readonly id: string
  readonly text: string
}

const notInFeed = fieldError("after", "exists", "does not exist in this feed; it may have expired")

/** How a statement reads on from a position, in either direction. */
const directions = {
  asc: { start: "0", after: ">", within: "<=", order: "asc" },
  desc: { start: "9223372036854775807", after: "<", within: ">=", order: "desc" }
} as const
type Direction = (typeof directions)[keyof typeof directions]

/** Reads single events and the feed, which has the order that the relay assigned. */
export class Events extends Effect.Service<Events>()("layers/Events", {
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const json = sql.literal(buildJsonSql(eventFields, qualifiedColumnOf))

    const select = (source: (tenant: string) => Fragment) =>
      Effect.flatMap(CurrentTenant, (tenant) =>
        Effect.orDie(sql<EventRow>`select e.id, ${json} as text from ${source(tenant)}`)
      )

    const findOne = (filter: Fragment) =>
      select((tenant) => sql`events e where e.tenant_id = ${tenant} and ${filter}`).pipe(
        Effect.flatMap(([row]) =>
          row === undefined ? Effect.fail(new NotFound()) : Effect.succeed(new EncodedJson<Event>(row.text))
        )
      )

    const positionOf = (event: string | undefined, { start }: Direction) =>
      event === undefined
        ? Effect.succeed<string>(start)
        : Effect.flatMap(CurrentTenant, (tenant) =>
            Effect.orDie(sql<{ position: string }>`
              select position::text from event_feed where tenant_id = ${tenant} and event_id = ${event}`)
          ).pipe(Effect.flatMap(([row]) => (row === undefined ? Effect.fail(notInFeed) : Effect.succeed(row.position))))

    const selectAfter = (tenant: string, position: string, max: number, { after, order }: Direction) => sql`
      select position, event_id from event_feed
      where tenant_id = ${tenant} and position ${sql.literal(after)} ${position}::bigint
      order by position ${sql.literal(order)} limit ${max}`

    /**
     * Reads a page per type and merges them. Only the index by type has the requested order, so that the planner never
     * scans the whole feed for a few events of a rare type.
     */
    const selectTypesAfter = (
      pattern: EventPattern,
      tenant: string,
      position: string,
      max: number,
      direction: Direction
    ) => {
      const [after, within, order] = [direction.after, direction.within, direction.order].map(sql.literal)
      return sql`
        select placed.* from json_array_elements_text(${JSON.stringify(expandEventPattern(pattern))}::json) as requested (type)
        cross join lateral (
          select position, event_id from event_feed
          where tenant_id = ${tenant} and (type, position) ${after} (requested.type, ${position}::bigint)
            and type ${within} requested.type
          order by type ${order}, position ${order} limit ${max}
        ) placed order by position ${order} limit ${max}`
    }

    return {
      /** One page of encoded events in the order of their ids, also of events that are not in the feed yet. */
      pageByAge: (after: string | undefined, limit: number) =>
        select(
          (tenant) => sql`
          events e where e.tenant_id = ${tenant} and e.id > ${after ?? ""} order by e.id limit ${limit}`
        ),

      get: (id: string) => findOne(sql`e.id = ${id}`),

      /** The event that created this version of a resource. */
      getByResourceVersion: (id: string, sequence: number) =>
        Effect.orDie(findOne(sql`e.resource_id = ${id} and e.sequence = ${sequence}`)),

      /** A page of events after the given one, in feed order or backwards. `next` is the last of them if there are more. */
      feed: Effect.fnUntraced(function* ({ after, limit, order = "asc", type }: FeedQuery) {
        const direction = directions[order]
        const position = yield* positionOf(after, direction)
        const placed = (tenant: string) =>
          type === undefined
            ? selectAfter(tenant, position, limit + 1, direction)
            : selectTypesAfter(type, tenant, position, limit + 1, direction)
        const rows = yield* select(
          (tenant) => sql`
            (${placed(tenant)}) f join events e on e.tenant_id = ${tenant} and e.id = f.event_id
            order by f.position ${sql.literal(direction.order)}`
        )
        const page = rows.slice(0, limit)
        return {
          events: new EncodedJson<ReadonlyArray<Event>>(`[${page.map(({ text }) => text).join(",")}]`),
          next: rows.length > limit ? page.at(-1)?.id : undefined
        }
      })
    }
  }).pipe(withSpans("Events"))
}) {}
