import type * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import { JsonPage } from "../../../domain/JsonText.ts"
import type { Position } from "../../../domain/Paging.ts"
import { CurrentTenant } from "../../../domain/tenancy/Caller.ts"
import { columnOf, type Shape } from "./Columns.ts"
import { jsonSql } from "./JsonSql.ts"
import { makeKeyset } from "./Keyset.ts"

/** Bounds what one page of a whole list takes in memory, and lets most lists be one statement. */
export const maxPageRows = 1024

/** A page as one value: to take rows apart and write them again in this process costs several times as much. */
interface PageRow {
  readonly text: string | null
  /** Of the last row of a full page. */
  readonly order: number | null
  readonly id: string | null
}

/** Reads a whole list of resources that have an order, page by page, each page in one statement of its own. */
export const makeListPages = <A>(
  sql: SqlClient.SqlClient,
  shape: Shape
): ((start?: Position) => Effect.Effect<JsonPage<A>, never, CurrentTenant>) => {
  const table = sql.literal(shape.table)
  const json = sql.literal(jsonSql(shape.fields, (field) => `this."${columnOf(shape, field)}"`))
  const { after, inOrder } = makeKeyset(sql, shape)
  const limit = sql.literal(String(maxPageRows))

  // The subquery is sorted by the index, and aggregates take its rows in that order. From the subselect the planner
  // cannot tell which tenant it is: otherwise it would plan anew for each, which takes longer than a short list.
  const select = (
    tenant: string,
    start: Position | undefined
  ) => sql<PageRow>`select string_agg(page.json, ',') as text,
      (array_agg(page."order"))[${limit}] as "order", (array_agg(page.id))[${limit}] as id
    from (
      select ${json} as json, this."order", this.id from ${table} this
      where this.tenant_id = (select ${tenant}::text) and ${after(start)} ${inOrder} limit ${limit}
    ) page`

  return (start) =>
    Effect.flatMap(CurrentTenant, (tenant) => Effect.orDie(select(tenant, start))).pipe(
      Effect.map(([page]) => {
        const { id, order, text } = page ?? { id: null, order: null, text: null }
        return new JsonPage<A>(text ?? "", id === null ? undefined : { id, order: order ?? undefined })
      })
    )
}
