import type * as SqlClient from "@effect/sql/SqlClient"
import type { Fragment } from "@effect/sql/Statement"
import type { Position } from "../../../domain/Paging.ts"
import type { Shape } from "./Columns.ts"

/** Stands for "without an order" in a place where a number must be: above every order there is. */
const last = "9223372036854775807"

/** The order of a resource's lists, those without an order last, and how a page starts after a row of the one before. */
export const makeKeyset = (sql: SqlClient.SqlClient, shape: Shape) => {
  const isOrdered = "order" in shape.fields
  const position = sql.literal(isOrdered ? `coalesce(this."order", ${last}), this.id` : "this.id")

  return {
    inOrder: sql`order by ${position}`,

    after: (start: Position | undefined): Fragment => {
      if (start === undefined) return sql.literal("true")
      return isOrdered
        ? sql`(${position}) > (coalesce(${start.order ?? null}::bigint, ${sql.literal(last)}), ${start.id})`
        : sql`this.id > ${start.id}`
    }
  }
}
