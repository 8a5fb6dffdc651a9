import type * as SqlClient from "@effect/sql/SqlClient"
import type { Fragment } from "@effect/sql/Statement"
import { Effect } from "effect"
import { EncodedPage } from "../../../domain/EncodedJson.ts"
import type { PagePosition } from "../../../domain/Paging.ts"
import { CurrentTenant } from "../../../domain/tenancy/RequestContext.ts"
import { columnOf, type TableShape } from "./Columns.ts"
import { buildJsonSql } from "./JsonSql.ts"

/** The maximum of bigint stands for a missing order, so that such rows sort last. */
const maxOrder = "9223372036854775807"

/** Keyset pagination: the sort order of a list, rows without an order last, and the condition for rows after a position. */
export const makeKeyset = (sql: SqlClient.SqlClient, shape: TableShape) => {
  const isOrdered = "order" in shape.fields
  const position = sql.literal(isOrdered ? `coalesce(this."order", ${maxOrder}), this.id` : "this.id")

  return {
    orderBy: sql`order by ${position}`,

    after: (start: PagePosition | undefined): Fragment => {
      if (start === undefined) return sql.literal("true")
      return isOrdered
        ? sql`(${position}) > (coalesce(${start.order ?? null}::bigint, ${sql.literal(maxOrder)}), ${start.id})`
        : sql`this.id > ${start.id}`
    }
  }
}

/** Bounds the memory of one page. Large enough for most lists to take one statement. */
export const maxPageRows = 1024

/** PostgreSQL encodes a whole page as one value; parsing rows and encoding them here costs several times as much. */
interface PageRow {
  readonly text: string | null
  /** Position of the last row, null unless the page is full. */
  readonly order: number | null
  readonly id: string | null
}

/** Returns a function that reads one page of a list of ordered resources in one statement. */
export const makeListPageReader = <A>(
  sql: SqlClient.SqlClient,
  shape: TableShape
): ((start?: PagePosition) => Effect.Effect<EncodedPage<A>, never, CurrentTenant>) => {
  const table = sql.literal(shape.table)
  const json = sql.literal(buildJsonSql(shape.fields, (field) => `this."${columnOf(shape, field)}"`))
  const { after, orderBy } = makeKeyset(sql, shape)
  const limit = sql.literal(String(maxPageRows))

  // The index sorts the subquery, and the aggregates read its rows in that order. The subselect hides the tenant from the
  // planner, which would otherwise choose a custom plan for each, and planning takes longer than reading a short list.
  const select = (
    tenant: string,
    start: PagePosition | undefined
  ) => sql<PageRow>`select string_agg(page.json, ',') as text,
      (array_agg(page."order"))[${limit}] as "order", (array_agg(page.id))[${limit}] as id
    from (
      select ${json} as json, this."order", this.id from ${table} this
      where this.tenant_id = (select ${tenant}::text) and ${after(start)} ${orderBy} limit ${limit}
    ) page`

  return (start) =>
    Effect.flatMap(CurrentTenant, (tenant) => Effect.orDie(select(tenant, start))).pipe(
      Effect.map(([page]) => {
        const { id, order, text } = page ?? { id: null, order: null, text: null }
        return new EncodedPage<A>(text ?? "", id === null ? undefined : { id, order: order ?? undefined })
      })
    )
}
