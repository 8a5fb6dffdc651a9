import type * as SqlClient from "@effect/sql/SqlClient"
import type { Fragment } from "@effect/sql/Statement"
import type { PagePosition } from "../../../domain/Paging.ts"
import type { TableShape } from "./Columns.ts"

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
