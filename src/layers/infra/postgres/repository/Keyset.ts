import type * as SqlClient from "@effect/sql/SqlClient"
import type { Fragment } from "@effect/sql/Statement"
import { type PagePosition, parseSort } from "../../../../domain/Paging.ts"
import type { TableShape } from "./Columns.ts"

/** The maximum of bigint stands for a missing order, so that such rows sort last. */
const maxOrder = "9223372036854775807"

/** How a list is sorted by a field: the expression of an index, `<prefix><column><suffix>`, and the type of the column. */
export interface SortKey {
  readonly column: string
  readonly type: string
  readonly prefix?: string
  readonly suffix?: string
}

/** Lower case by the rules of ICU, sorted by bytes: the expression of the indexes on texts. */
const lowerCase = { prefix: "lower(", suffix: ' collate "und-x-icu") collate "C"' }

/** The sort by a name, in upper or lower case. */
export const byName: SortKey = { column: "name", type: "text", ...lowerCase }

/** The sort by a time. Rows without one come last. */
export const byTime = (column: string): SortKey => ({
  column,
  type: "timestamptz",
  prefix: "coalesce(",
  suffix: ", 'infinity'::timestamptz)"
})

/** The sort by age: identifiers are in the order of creation. */
export const byAge: SortKey = { column: "id", type: "text" }

export type SortKeys = Readonly<Record<string, SortKey>>

const timePattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

/** The key of a position. A cursor that was not made here must not make a statement fail: such a time counts as none. */
const keyOf = ({ key = null }: PagePosition, type: string) =>
  type === "timestamptz" && key !== null && !(timePattern.test(key) && Number.isFinite(Date.parse(key))) ? null : key

interface Keyset {
  readonly orderBy: Fragment
  /** The condition for rows after a position. */
  readonly after: (start: PagePosition | undefined) => Fragment
}

/**
 * Keyset pagination: the sort order of a list, and the condition for rows after a position. Without a sort, rows are in
 * the order of `order`, rows without it last, and then by age.
 */
export const makeKeyset = (sql: SqlClient.SqlClient, shape: TableShape, sorts: SortKeys = {}) => {
  const unlessFirst = (after: (start: PagePosition) => Fragment) => (start: PagePosition | undefined) =>
    start === undefined ? sql.literal("true") : after(start)

  const makeByAge = (direction: string, comparison: string): Keyset => ({
    orderBy: sql.literal(`order by this.id ${direction}`),
    after: unlessFirst(({ id }) => sql`this.id ${sql.literal(comparison)} ${id}`)
  })

  const inOrder = `coalesce(this."order", ${maxOrder}), this.id`
  const byDefault: Keyset =
    "order" in shape.fields
      ? {
          orderBy: sql.literal(`order by ${inOrder}`),
          after: unlessFirst(
            ({ id, order }) => sql`(${sql.literal(inOrder)}) >
              (coalesce(${order ?? null}::bigint, ${sql.literal(maxOrder)}), ${id})`
          )
        }
      : makeByAge("", ">")

  const makeSorted = (sort: string): Keyset => {
    const { field, isDescending } = parseSort(sort)
    const sortKey = sorts[field]
    const [direction, comparison] = isDescending ? (["desc", "<"] as const) : (["", ">"] as const)
    if (sortKey === undefined || sortKey === byAge) return makeByAge(direction, comparison)
    const { column, prefix = "", suffix = "", type } = sortKey
    const expression = `${prefix}this.${column}${suffix}`
    return {
      orderBy: sql.literal(`order by ${expression} ${direction}, this.id ${direction}`),
      after: unlessFirst(
        (start) => sql`(${sql.literal(`${expression}, this.id`)}) ${sql.literal(comparison)}
          (${sql.literal(prefix)}${keyOf(start, type)}::${sql.literal(`${type}${suffix}`)}, ${start.id})`
      )
    }
  }

  return (sort: string | undefined) => (sort === undefined ? byDefault : makeSorted(sort))
}

/**
 * Whether a text has a trigram, the key of the indexes that searches use. Without one such an index returns all of its
 * rows, those of all tenants. Databases with the locale C see no other letters than these.
 */
export const hasTrigram = (text: string) => /[a-z0-9]{3}/i.test(text)

/** Whether a column contains a text, in upper or lower case. Only for a text with a trigram an index finds it. */
export const containsText = (sql: SqlClient.SqlClient, column: string, text: string) => {
  const lower = (value: Fragment) => sql`${sql.literal(lowerCase.prefix)}${value}${sql.literal(lowerCase.suffix)}`
  const searched = lower(sql.literal(column))
  if (!hasTrigram(text)) return sql`strpos(${searched}, ${lower(sql`${text}::text`)}) > 0`
  const pattern = `%${text.replace(/[\\%_]/g, "\\$&")}%`
  return sql`${searched} like ${lower(sql`${pattern}::text`)}`
}

/**
 * The rows of a table whose column contains a text, in upper or lower case. The subselect runs once and reads the trigram
 * index; otherwise PostgreSQL may walk the whole list in its order to find few matches. A text without a trigram has many
 * matches, or the tenant's rows are read to the end.
 */
export const searchCondition = (sql: SqlClient.SqlClient, tenant: string, table: string, query: string | undefined) => {
  if (query === undefined) return sql.literal("true")
  if (!hasTrigram(query)) return containsText(sql, "this.name", query)
  return sql`this.id = any(array(
    select id from ${sql.literal(table)} where tenant_id = ${tenant} and ${containsText(sql, "name", query)}))`
}
