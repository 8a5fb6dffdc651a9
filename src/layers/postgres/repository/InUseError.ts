import type * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import { ValidationError, validationError } from "../../../domain/Errors.ts"
import type { ResourceName } from "../../../domain/events/EventCatalogue.ts"
import { CurrentTenant } from "../../../domain/tenancy/RequestContext.ts"

/** Tables whose rows keep the resource they reference from being deleted, each with its name in error messages. */
export const userNames: Readonly<Record<string, readonly [one: string, many: string]>> = {
  addresses: ["address", "addresses"],
  attachments: ["media slot", "media slots"],
  contacts: ["contact", "contacts"],
  contracts: ["contract", "contracts"],
  emails: ["email", "emails"],
  invoices: ["invoice", "invoices"],
  projects: ["project", "projects"],
  subscriptions: ["subscription", "subscriptions"]
}

const maxCounted = 100

/** "3 invoices", "more than 100 invoices", or "invoices" without a count. */
const describeUsers = (table: string, count: number) => {
  const [one, many] = userNames[table] ?? ["other resource", "other resources"]
  if (count === 0) return many
  if (count > maxCounted) return `more than ${maxCounted} ${many}`
  return `${count} ${count === 1 ? one : many}`
}

/** Rows of a table still reference the resource. Its message has no count, because the failed transaction cannot count. */
export class InUseError extends ValidationError {
  readonly field: string
  readonly table: string

  constructor(field: string, table: string, count = 0) {
    super(validationError({ field, constraint: "inUse", message: `is still used by ${describeUsers(table, count)}` }))
    this.field = field
    this.table = table
  }
}

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
    Effect.catchIf(
      write,
      (error): error is E & InUseError => error instanceof InUseError,
      ({ field, table }) =>
        Effect.flatMap(countUsers(table), (count) => Effect.fail(new InUseError(field, table, count)))
    )
}
