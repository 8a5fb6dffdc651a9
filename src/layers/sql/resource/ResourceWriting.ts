import type * as SqlClient from "@effect/sql/SqlClient"
import type { Fragment } from "@effect/sql/Statement"
import { Effect } from "effect"
import { PreconditionFailed } from "../../../domain/Errors.ts"
import { etagOf } from "../../../domain/Etag.ts"
import { prefixOf } from "../../../domain/Ids.ts"
import { type Change, patched } from "../../../domain/Schemas.ts"
import { CurrentTenant, IfMatch } from "../../../domain/tenancy/Caller.ts"
import { newId } from "../../Ids.ts"
import { atomically } from "../connection/Transaction.ts"
import { arranger, driverRow, type Row, rowMaker, type Shape } from "./Columns.ts"
import { recording } from "./EventLog.ts"
import type { Reading } from "./ResourceReading.ts"
import type { Identified, Spec, Stamped, Versioned } from "./ResourceSpec.ts"
import { refusing } from "./Violations.ts"

const now = Effect.sync(() => new Date().toISOString())

const isMet = (tags: ReadonlyArray<string> | undefined, value: unknown) =>
  tags === undefined || tags.includes("*") || tags.includes(etagOf(value))

/** How the resources of a table are written, each write and its event in one statement. */
export const makeWriting = <A extends Stamped, F extends Identified>(
  sql: SqlClient.SqlClient,
  spec: Spec<A, F>,
  shape: Shape,
  { current, held, inTenant, read }: Reading<A>
) => {
  const table = sql.literal(spec.table)
  const arrange = arranger(shape)
  const rowOf = rowMaker(shape)
  const shown = spec.shown ?? ((entity: A): unknown => entity)
  const answered = spec.answered ?? shown
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
      data: shown(value)
    })

  const create = Effect.fnUntraced(function* (fields: Omit<A, keyof Stamped>, givenId?: string) {
    const tenant = yield* CurrentTenant
    const at = yield* now
    const id = givenId ?? (yield* newId(prefix))
    const entity = { ...fields, id, createdAt: at, updatedAt: at }
    const value = read(arrange(entity))
    const row = { [tenantColumn]: tenant, ...driverRow(rowOf(entity)), sequence: 1 }
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

  /** The version as `reading` finds it, if it is one the caller accepts. */
  const accepted = (reading: typeof current) => (id: string) =>
    Effect.zipWith(reading(id), IfMatch, (seen, tags) => ({ seen, tags })).pipe(
      Effect.filterOrFail(
        ({ seen, tags }) => isMet(tags, answered(seen.value)),
        () => new PreconditionFailed()
      ),
      Effect.map(({ seen }) => seen)
    )
  const seeing = accepted(current)
  /** The newest version, held against every other writer until the transaction ends. */
  const hold = accepted(held)

  /** Makes `next` of the version seen, and sets columns that no field shows. */
  const write = Effect.fnUntraced(function* (
    seen: Versioned<A>,
    action: string,
    next: Omit<A, keyof Stamped>,
    columns: Row = {}
  ) {
    const tenant = yield* CurrentTenant
    const at = yield* now
    const sequence = seen.sequence + 1
    const { createdAt, id } = seen.value
    const entity = { ...next, id, createdAt, updatedAt: at }
    const value = read(arrange(entity))
    const event = yield* recordOf(tenant, action, value, sequence, at)
    const update = sql`update ${table} this set ${sql.update({ ...driverRow(rowOf(entity)), ...columns, sequence })}`
    return (yield* land(tenant, seen, update, event)) ? value : undefined
  })

  const erase = Effect.fnUntraced(function* (seen: Versioned<A>) {
    const tenant = yield* CurrentTenant
    const event = yield* recordOf(tenant, "deleted", seen.value, seen.sequence + 1, yield* now)
    const removal = sql.literal(spec.removal ?? `delete from ${spec.table} this`)
    return (yield* land(tenant, seen, removal, event)) ? seen.value : undefined
  })

  /** What was done to a version that nobody else could change has been done. */
  const certainly = <B, E, R>(done: Effect.Effect<B | undefined, E, R>) =>
    Effect.flatMap(done, (value) =>
      value === undefined ? Effect.dieMessage("A held row was overtaken") : Effect.succeed(value)
    )

  /** Decides on the newest version. Whoever was overtaken while deciding holds the row and decides again. */
  const onNewest = <E, R>(id: string, attempt: (seen: Versioned<A>) => Effect.Effect<A | undefined, E, R>) =>
    Effect.flatMap(Effect.flatMap(seeing(id), attempt), (done) =>
      done === undefined ? atomically(sql)(certainly(Effect.flatMap(hold(id), attempt))) : Effect.succeed(done)
    )

  /** Changes one resource to what `change` makes of its newest version. */
  const revise = <E, R>(id: string, change: (value: A) => Effect.Effect<Omit<A, keyof Stamped>, E, R>) =>
    onNewest(id, (seen) => Effect.flatMap(change(seen.value), (next) => write(seen, "updated", next)))

  return {
    create,
    revise,
    remove: (id: string) => Effect.asVoid(onNewest(id, erase)),
    hold,
    /** For a version that is held: makes something else of it, under the action's name, or takes it away. */
    rewrite: (...change: Parameters<typeof write>) => certainly(write(...change)),
    discard: (seen: Versioned<A>) => Effect.asVoid(certainly(erase(seen))),
    /** Sets the fields a PATCH names; null takes one away. */
    patch: (id: string, change: Change<A>) => revise(id, (value) => Effect.succeed(patched(value, change)))
  }
}
