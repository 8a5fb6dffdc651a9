import type * as SqlClient from "@effect/sql/SqlClient"
import type { Fragment } from "@effect/sql/Statement"
import { Effect } from "effect"
import { EncodedPage } from "../../../../domain/EncodedJson.ts"
import { type PagePosition, parseSort } from "../../../../domain/Paging.ts"
import { CurrentTenant } from "../../../../domain/tenancy/RequestContext.ts"
import { columnOf, type TableShape } from "./Columns.ts"
import { buildJsonSql } from "./JsonSql.ts"
import { makeKeyset, type SortKeys, searchCondition } from "./Keyset.ts"

/** Bounds the memory of one page. Large enough for most lists to take one statement. */
export const maxPageRows = 1024

/** PostgreSQL encodes a whole page as one value; parsing rows and encoding them here costs several times as much. */
interface PageRow {
  readonly text: string | null
  /** Position of the last row, null unless the page is full. */
  readonly order: number | null
  readonly key: string | null
  readonly id: string | null
}

/** The search and the sort of a list. */
export interface ListQuery {
  readonly q?: string | undefined
  readonly sort?: string | undefined
}

/** Returns a function that reads one page of a list of ordered resources in one statement. */
export const makeListPageReader = <A>(sql: SqlClient.SqlClient, shape: TableShape, sorts: SortKeys) => {
  const table = sql.literal(shape.table)
  const json = sql.literal(buildJsonSql(shape.fields, (field) => `this."${columnOf(shape, field)}"`))
  const keysetOf = makeKeyset(sql, shape, sorts)
  const limit = sql.literal(String(maxPageRows))
  const noKey = sql.literal("null::text")

  const keyColumn = (sort: string | undefined): Fragment =>
    sort === undefined ? noKey : sql.literal(`this."${columnOf(shape, parseSort(sort).field)}"::text`)

  // The index sorts the subquery, and the aggregates read its rows in that order. The subselect hides the tenant from the
  // planner, which would otherwise choose a custom plan for each, and planning takes longer than reading a short list.
  const select = (tenant: string, { q, sort }: ListQuery, start: PagePosition | undefined) => {
    const { after, orderBy } = keysetOf(sort)
    return sql<PageRow>`select string_agg(page.json, ',') as text, (array_agg(page."order"))[${limit}] as "order",
        (array_agg(page.key))[${limit}] as key, (array_agg(page.id))[${limit}] as id
      from (
        select ${json} as json, this."order", ${keyColumn(sort)} as key, this.id from ${table} this
        where this.tenant_id = (select ${tenant}::text) and ${searchCondition(sql, tenant, shape.table, q)}
          and ${after(start)} ${orderBy} limit ${limit}
      ) page`
  }

  return (query: ListQuery) =>
    (start?: PagePosition): Effect.Effect<EncodedPage<A>, never, CurrentTenant> =>
      Effect.flatMap(CurrentTenant, (tenant) => Effect.orDie(select(tenant, query, start))).pipe(
        Effect.map(([page]) => {
          const { id, key, order, text } = page ?? { id: null, key: null, order: null, text: null }
          const { sort } = query
          const next =
            id === null ? undefined : { id, ...(sort === undefined ? { order: order ?? undefined } : { sort, key }) }
          return new EncodedPage<A>(text ?? "", next)
        })
      )
}
