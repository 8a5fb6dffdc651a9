import type { SqlError } from "@effect/sql/SqlError"
import { Effect } from "effect"
import { breaks, NotFound, type ValidationError } from "../../../domain/Errors.ts"
import { codeOf } from "../connection/Outage.ts"
import { columnOf, type Shape } from "./Columns.ts"

const camel = (column: string) => column.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())

const textOf = (cause: unknown, key: "table" | "constraint") => {
  const value = typeof cause === "object" && cause !== null ? Reflect.get(cause, key) : undefined
  return typeof value === "string" ? value : ""
}

/** Constraints are named `<table>_<column>_fkey`, `_key` or `_min`: the name tells the field. */
const fieldOf = (table: string, constraint: string) =>
  camel(constraint.replace(new RegExp(`^${table}_`), "").replace(/_(f?key|min)$/, ""))

/** Whether a resource is refused because what it belongs to is not there. */
const isOrphan = (shape: Shape, field: string) =>
  shape.relations?.some((relation) => camel(columnOf(shape, relation)) === field) === true

/** A broken constraint in the words of the interface, or nothing when it is no caller's doing. */
const refusal = (shape: Shape, { cause }: SqlError): ValidationError | NotFound | undefined => {
  const holder = textOf(cause, "table")
  const constraint = textOf(cause, "constraint")
  const field = fieldOf(holder, constraint)
  switch (codeOf(cause)) {
    case "23503":
      if (holder === shape.table)
        return isOrphan(shape, field) ? new NotFound() : breaks(field, "exists", "names nothing in this tenant")
      return breaks(constraint.endsWith("_id_fkey") ? "id" : field, "inUse", `is still referred to by ${holder}`)
    case "23505":
      return breaks(field, "unique", "is taken")
    case "23514":
      return constraint.endsWith("_min") ? breaks(field, "min", "is less than what is used up already") : undefined
    default:
      return undefined
  }
}

/** Rules kept by the database become the caller's 400 or 404; any other failure of a statement is a defect of ours. */
export const refusing =
  (shape: Shape) =>
  <A, R>(statement: Effect.Effect<A, SqlError, R>): Effect.Effect<A, ValidationError | NotFound, R> =>
    Effect.catchAll(statement, (error) => {
      const refused = refusal(shape, error)
      return refused === undefined ? Effect.die(error) : Effect.fail(refused)
    })
