import type * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import { fieldError, ValidationError } from "../../../../domain/Errors.ts"
import type { ResourceName } from "../../../../domain/events/EventCatalogue.ts"
import { CurrentTenant } from "../../../../domain/tenancy/RequestContext.ts"

/** What people call the rows of a table, if not by its name. */
const otherNames: Readonly<Record<string, string>> = { attachments: "media slots" }

/** What messages call one row of a table, and several. */
export const namesOf = (table: string): readonly [one: string, many: string] => {
  const many = otherNames[table] ?? table.replaceAll("_", " ")
  return [many.replace(/(?<=ss)es$|s$/, ""), many]
}

const maxCounted = 100

/** "3 invoices", "more than 100 invoices", or "invoices" without a count. */
const describeUsers = (table: string, count: number) => {
  const [one, many] = namesOf(table)
  if (count === 0) return many
  if (count > maxCounted) return `more than ${maxCounted} ${many}`
  return `${count} ${count === 1 ? one : many}`
}

interface Use {
  readonly field: string
  readonly table: string
}

/** What the errors of this module were made of. */
const uses = new WeakMap<object, Use>()

/** Rows of a table still reference the resource. Without a count, because a failed transaction cannot count. */
export const inUseError = (field: string, table: string, count = 0) => {
  const error = fieldError(field, "inUse", `is still used by ${describeUsers(table, count)}`)
  uses.set(error, { field, table })
  return error
}

const findUse = (error: unknown) => (error instanceof ValidationError ? uses.get(error) : undefined)

/** Adds the number of users to the error of a write. Wrap the whole transaction: a failed one accepts no statement. */
export const makeUseCounter = (sql: SqlClient.SqlClient, name: ResourceName) => (id: string) => {
  const countUsers = (table: string) =>
    Effect.flatMap(
      CurrentTenant,
      (tenant) => sql<{ count: number }>`
        select count(*)::int as count from (
          select 1 from ${sql.literal(table)}
          where tenant_id = ${tenant} and ${sql.literal(`${name}_id`)} = ${id} limit ${maxCounted + 1}
        ) users`
    ).pipe(
      Effect.map(([row]) => row?.count ?? 0),
      // The error is right without the count.
      Effect.orElseSucceed(() => 0)
    )

  return <A, E, R>(write: Effect.Effect<A, E, R>) =>
    Effect.catchAll(write, (error): Effect.Effect<never, E | ValidationError, CurrentTenant> => {
      const use = findUse(error)
      if (use === undefined) return Effect.fail(error)
      return Effect.flatMap(countUsers(use.table), (count) => Effect.fail(inUseError(use.field, use.table, count)))
    })
}
