import * as SqlClient from "@effect/sql/SqlClient"
import type { Fragment } from "@effect/sql/Statement"
import { Effect } from "effect"
import { breaks, NotFound } from "../../domain/Errors.ts"
import { type EventPattern, typesOf } from "../../domain/events/Catalogue.ts"
import { type Event, eventFields } from "../../domain/events/Event.ts"
import { JsonText } from "../../domain/JsonText.ts"
import { CurrentTenant } from "../../domain/tenancy/Caller.ts"
import { columnOf, type Shape } from "../postgres/repository/Columns.ts"
import { jsonSql } from "../postgres/repository/JsonSql.ts"

const shape: Shape = { table: "events", fields: eventFields, relations: ["tenant", "client"] }

/** An event's timestamp is when it occurred. */
const columnIn = (field: string) => (field === "timestamp" ? "e.occurred_at" : `e.${columnOf(shape, field)}`)

interface Asked {
  readonly after?: string | undefined
  readonly type?: EventPattern | undefined
  readonly limit: number
}

/** An event in JSON, its snapshot in the very characters it was kept in. */
interface EventRow {
  readonly id: string
  readonly text: string
}

const notInFeed = breaks("after", "exists", "names no event of this feed; it may have been purged")

/** What was recorded, one by one or in the order the relay put it into. */
export class Events extends Effect.Service<Events>()("layers/Events", {
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const json = sql.literal(jsonSql(eventFields, columnIn))

    const select = (source: (tenant: string) => Fragment) =>
      Effect.flatMap(CurrentTenant, (tenant) =>
        Effect.orDie(sql<EventRow>`select e.id, ${json} as text from ${source(tenant)}`)
      )

    const one = (filter: Fragment) =>
      select((tenant) => sql`events e where e.tenant_id = ${tenant} and ${filter}`).pipe(
        Effect.flatMap(([row]) =>
          row === undefined ? Effect.fail(new NotFound()) : Effect.succeed(new JsonText<Event>(row.text))
        )
      )

    const positionOf = (event: string | undefined) =>
      event === undefined
        ? Effect.succeed("0")
        : Effect.flatMap(CurrentTenant, (tenant) =>
            Effect.orDie(sql<{ position: string }>`
              select position::text from event_feed where tenant_id = ${tenant} and event_id = ${event}`)
          ).pipe(Effect.flatMap(([row]) => (row === undefined ? Effect.fail(notInFeed) : Effect.succeed(row.position))))

    const placedAfter = (tenant: string, position: string, most: number) => sql`
      select position, event_id from event_feed where tenant_id = ${tenant} and position > ${position}::bigint
      order by position limit ${most}`

    /**
     * A page of each type, and the first of all these. Only the index by type has the order that is asked for, so that
     * the planner never walks the whole feed for the few events of a type.
     */
    const placedOfTypes = (pattern: EventPattern, tenant: string, position: string, most: number) => sql`
      select placed.* from json_array_elements_text(${JSON.stringify(typesOf(pattern))}::json) as asked (type)
      cross join lateral (
        select position, event_id from event_feed
        where tenant_id = ${tenant} and (type, position) > (asked.type, ${position}::bigint) and type <= asked.type
        order by type, position limit ${most}
      ) placed order by position limit ${most}`

    return {
      get: (id: string) => one(sql`e.id = ${id}`),

      /** The event that made a resource what it is at this place in its sequence. */
      ofResource: (id: string, sequence: number) =>
        Effect.orDie(one(sql`e.resource_id = ${id} and e.sequence = ${sequence}`)),

      /** Events after one, in the order of the feed, and the last of them when there are more. */
      feed: Effect.fnUntraced(function* ({ after, limit, type }: Asked) {
        const position = yield* positionOf(after)
        const placed = (tenant: string) =>
          type === undefined
            ? placedAfter(tenant, position, limit + 1)
            : placedOfTypes(type, tenant, position, limit + 1)
        const rows = yield* select(
          (tenant) => sql`
            (${placed(tenant)}) f join events e on e.tenant_id = ${tenant} and e.id = f.event_id order by f.position`
        )
        const page = rows.slice(0, limit)
        return {
          events: new JsonText<ReadonlyArray<Event>>(`[${page.map(({ text }) => text).join(",")}]`),
          next: rows.length > limit ? page.at(-1)?.id : undefined
        }
      })
    }
  })
}) {}
