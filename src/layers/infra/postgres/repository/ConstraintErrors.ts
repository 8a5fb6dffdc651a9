import type { SqlError } from "@effect/sql/SqlError"
import { Effect } from "effect"
import { fieldError, NotFound, type ValidationError } from "../../../../domain/Errors.ts"
import { errorCodeOf } from "../connection/TransientErrors.ts"
import { columnOf, type TableShape } from "./Columns.ts"
import { inUseError } from "./InUseErrors.ts"

const toCamelCase = (column: string) => column.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())

const stringFieldOf = (cause: unknown, key: "table" | "constraint") => {
  const value = typeof cause === "object" && cause !== null ? Reflect.get(cause, key) : undefined
  return typeof value === "string" ? value : ""
}

/** The name of a constraint, `<table>_<column>_fkey`, `_key` or `_min`, contains the column of the field. */
const fieldOf = (table: string, constraint: string) =>
  toCamelCase(constraint.replace(new RegExp(`^${table}_`), "").replace(/_(f?key|min)$/, ""))

/** Whether the field references the parent of the resource, which does not exist. */
const isParentReference = (shape: TableShape, field: string) =>
  shape.relations?.some((relation) => toCamelCase(columnOf(shape, relation)) === field) === true

/** The API error of a constraint violation, or undefined if the caller did not cause it. */
const toApiError = (shape: TableShape, { cause }: SqlError): ValidationError | NotFound | undefined => {
  const table = stringFieldOf(cause, "table")
  const constraint = stringFieldOf(cause, "constraint")
  const field = fieldOf(table, constraint)
  switch (errorCodeOf(cause)) {
    case "23503":
      if (table === shape.table)
        return isParentReference(shape, field)
          ? new NotFound()
          : fieldError(field, "exists", "does not exist in this tenant")
      return inUseError(constraint.endsWith("_id_fkey") ? "id" : field, table)
    case "23505":
      return fieldError(field, "unique", "is already taken")
    case "23514":
      return constraint.endsWith("_min")
        ? fieldError(field, "min", "must not be less than the amount that is already billed")
        : undefined
    default:
      return undefined
  }
}

/** Maps constraint violations to a 400 or 404. Any other failed statement is a defect. */
export const mapConstraintErrors =
  (shape: TableShape) =>
  <A, R>(statement: Effect.Effect<A, SqlError, R>): Effect.Effect<A, ValidationError | NotFound, R> =>
    Effect.catchAll(statement, (error) => {
      const apiError = toApiError(shape, error)
      return apiError === undefined ? Effect.die(error) : Effect.fail(apiError)
    })
