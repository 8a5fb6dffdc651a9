import type * as SqlClient from "@effect/sql/SqlClient"
import type { Fragment } from "@effect/sql/Statement"
import { Effect } from "effect"
import { CurrentTenant, IfMatch } from "../../../domain/Caller.ts"
import { PreconditionFailed } from "../../../domain/Errors.ts"
import { etagOf } from "../../../domain/Etag.ts"
import { prefixOf } from "../../../domain/Ids.ts"
import { type Change, patched } from "../../../domain/Schemas.ts"
import { newId } from "../../Ids.ts"
import { atomically } from "../connection/Transaction.ts"
import { arranger, initialValues, rowMaker, type Shape } from "./Columns.ts"
import { recording } from "./EventLog.ts"
import type { Reading } from "./ResourceReading.ts"
import type { Identified, Spec, Stamped, Versioned } from "./ResourceSpec.ts"
import { refusing } from "./Violations.ts"

const now = Effect.sync(() => new Date().toISOString())

const isMet = (tags: ReadonlyArray<string> | undefined, value: unknown) =>
  tags === undefined || tags.includes("*") || tags.includes(etagOf(value))

/** How the resources of a table are written, each write and its event in one statement. */
export const makeWriting = <A extends Stamped, F extends Identified, Computed extends string>(
  sql: SqlClient.SqlClient,
  spec: Spec<A, F, Computed>,
  shape: Shape,
  { current, held, inTenant, read }: Reading<A>
) => {
  const table = sql.literal(spec.table)
  const arrange = arranger(shape)
  const rowOf = rowMaker(shape)
  const initial = initialValues(shape)
  const prefix = prefixOf(spec.entity.fields.id)
  const refuse = refusing(spec.table)
  const record = recording(sql, sql.literal("changed"))
  const tenantColumn = spec.tenantColumn ?? "tenant_id"

  const recordOf = (tenant: string, action: string, value: A, sequence: number, at: string) =>
    record({
      tenant,
      type: `${spec.name}.${action}`,
      resource: value.id,
      client: spec.clientOf?.(value, tenant),
      sequence,
      at,
      data: value
    })

  const create = Effect.fnUntraced(function* (fields: Omit<A, keyof Stamped | Computed>, givenId?: string) {
    const tenant = yield* CurrentTenant
    const at = yield* now
    const id = givenId ?? (yield* newId(prefix))
    const entity = { ...initial, ...fields, id, createdAt: at, updatedAt: at }
    const value = read(arrange(entity))
    const row = { [tenantColumn]: tenant, ...rowOf(entity), sequence: 1 }
    const event = yield* recordOf(tenant, "created", value, 1, at)
    yield* refuse(sql`with changed as (insert into ${table} ${sql.insert(row)} returning 1) ${event}`)
    return value
  })

  /** Lands only on the version it was made from; tells whether it did. */
  const land = (tenant: string, seen: Versioned<A>, change: Fragment, event: Fragment) =>
    refuse(sql<object>`
      with changed as (
        ${change} where ${inTenant(tenant)} and this.id = ${seen.value.id} and this.sequence = ${seen.sequence}
        returning 1
      ), event as (${event})
      select 1 from changed`).pipe(Effect.map((rows) => rows.length === 1))

  /** Decides on the newest version. Whoever was overtaken while deciding holds the row and decides again. */
  const onNewest = <B, E, R>(id: string, attempt: (seen: Versioned<A>) => Effect.Effect<B | undefined, E, R>) => {
    const decide = (reading: typeof current) =>
      Effect.zipWith(reading(id), IfMatch, (seen, tags) => ({ seen, tags })).pipe(
        Effect.filterOrFail(
          ({ seen, tags }) => isMet(tags, seen.value),
          () => new PreconditionFailed()
        ),
        Effect.flatMap(({ seen }) => attempt(seen))
      )
    return decide(current).pipe(
      Effect.flatMap((done) => (done === undefined ? atomically(sql)(decide(held)) : Effect.succeed(done))),
      Effect.flatMap((done) =>
        done === undefined ? Effect.dieMessage("A held row was overtaken") : Effect.succeed(done)
      )
    )
  }

  /** Changes one resource to what `change` makes of its newest version. */
  const revise = <E, R>(id: string, change: (value: A) => Effect.Effect<Omit<A, keyof Stamped>, E, R>) =>
    onNewest(
      id,
      Effect.fnUntraced(function* (seen) {
        const tenant = yield* CurrentTenant
        const at = yield* now
        const sequence = seen.sequence + 1
        const entity = { ...(yield* change(seen.value)), id, createdAt: seen.value.createdAt, updatedAt: at }
        const value = read(arrange(entity))
        const event = yield* recordOf(tenant, "updated", value, sequence, at)
        const update = sql`update ${table} this set ${sql.update({ ...rowOf(entity), sequence })}`
        return (yield* land(tenant, seen, update, event)) ? value : undefined
      })
    )

  const remove = (id: string) =>
    onNewest(
      id,
      Effect.fnUntraced(function* (seen) {
        const tenant = yield* CurrentTenant
        const event = yield* recordOf(tenant, "deleted", seen.value, seen.sequence + 1, yield* now)
        const removal = sql.literal(spec.removal ?? `delete from ${spec.table} this`)
        return (yield* land(tenant, seen, removal, event)) ? true : undefined
      })
    ).pipe(Effect.asVoid)

  return {
    create,
    revise,
    remove,
    /** Sets the fields a PATCH names; null takes one away. */
    patch: (id: string, change: Change<A>) => revise(id, (value) => Effect.succeed(patched(value, change)))
  }
}
