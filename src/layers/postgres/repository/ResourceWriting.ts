import type * as SqlClient from "@effect/sql/SqlClient"
import type { Fragment } from "@effect/sql/Statement"
import { Effect } from "effect"
import { PreconditionFailed } from "../../../domain/Errors.ts"
import { etagOf } from "../../../domain/Etag.ts"
import type { ActionOf, ResourceName } from "../../../domain/events/Catalogue.ts"
import { prefixOf } from "../../../domain/Ids.ts"
import { type Change, patched } from "../../../domain/Schemas.ts"
import { CurrentTenant, IfMatch } from "../../../domain/tenancy/Caller.ts"
import { atomically } from "../connection/Transaction.ts"
import { finishing } from "../connection/Transactions.ts"
import { makeId } from "../Ids.ts"
import { arranger, driverRow, type Row, rowMaker, type Shape } from "./Columns.ts"
import { recording } from "./EventLog.ts"
import type { Reading } from "./ResourceReading.ts"
import type { Identified, Spec, Stamped, Versioned } from "./ResourceSpec.ts"
import { refusing } from "./Violations.ts"

const now = () => new Date().toISOString()

/** Whether a caller who names these tags, if any, accepts this version. */
export const isMet = (tags: ReadonlyArray<string> | undefined, value: unknown) =>
  tags === undefined || tags.includes("*") || tags.includes(etagOf(value))

/** What a change takes along: columns that no field shows, and changes to other tables, `<name> as (<statement>)` each. */
export interface Along {
  readonly columns?: Row
  readonly besides?: ReadonlyArray<Fragment>
  /** The transaction has nothing to do afterwards. */
  readonly isLast?: boolean
}

/** How the resources of a table are written, each write and its event in one statement. */
export const makeWriting = <A extends Stamped, F extends Identified, N extends ResourceName>(
  sql: SqlClient.SqlClient,
  spec: Spec<A, F, N>,
  shape: Shape,
  { current, held, inTenant, read }: Reading<A>
) => {
  const table = sql.literal(spec.table)
  const arrange = arranger(shape)
  const rowOf = rowMaker(shape)
  const shown = spec.shown ?? ((entity: A): unknown => entity)
  const answered = spec.answered ?? shown
  const prefix = prefixOf(spec.entity.fields.id)
  const refuse = refusing(shape)
  const record = recording(sql, sql.literal("changed"))
  const tenantColumn = spec.tenantColumn ?? "tenant_id"

  const recordOf = (tenant: string, action: ActionOf<N>, value: A, sequence: number, at: string) =>
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
    const at = now()
    const id = givenId ?? makeId(prefix)
    const entity = { ...fields, id, createdAt: at, updatedAt: at }
    const value = read(arrange(entity))
    const row = { [tenantColumn]: tenant, ...driverRow(rowOf(entity)), sequence: 1 }
    const event = recordOf(tenant, "created", value, 1, at)
    yield* refuse(sql`with changed as (insert into ${table} ${sql.insert(row)} returning 1) ${event}`)
    return value
  })

  /** The parts of a statement that change a row, if it is still the version seen, and record the event. */
  const parts = (tenant: string, seen: Versioned<A>, change: Fragment, event: Fragment) => sql`
    changed as (
      ${change} where ${inTenant(tenant)} and this.id = ${seen.value.id} and this.sequence = ${seen.sequence}
      returning 1
    ), event as (${event})`

  /** Makes a change, unless somebody else was quicker; tells whether it did. */
  const land = (change: Fragment) =>
    Effect.map(refuse(sql<object>`with ${change} select 1 from changed`), (rows) => rows.length === 1)

  /**
   * Makes a change of what is held, and those `besides`, or none of them: that a held row was changed by somebody else
   * cannot be, and is made a failure of the statement.
   */
  const landHeld = (change: Fragment, { besides = [], isLast = false }: Along) => {
    const all = besides.reduceRight<Fragment>((rest, part) => sql`${part}, ${rest}`, change)
    const statement = refuse(sql`with ${all} select 1 / count(*) from changed`)
    return isLast ? finishing(statement) : statement
  }

  /** The version seen, if it is one the caller accepts. */
  const accepted = (seen: Versioned<A>) =>
    Effect.flatMap(IfMatch, (tags) =>
      isMet(tags, answered(seen.value)) ? Effect.succeed(seen) : Effect.fail(new PreconditionFailed())
    )
  const seeing = (id: string) => Effect.flatMap(current(id), accepted)
  /** The newest version, held against every other writer until the transaction ends. */
  const hold = (id: string) => Effect.flatMap(held(id), accepted)

  /** What makes `next` of the version seen, and what that is. */
  const rewriting = Effect.fnUntraced(function* (
    seen: Versioned<A>,
    action: ActionOf<N>,
    next: Omit<A, keyof Stamped>,
    columns: Row = {}
  ) {
    const tenant = yield* CurrentTenant
    const at = now()
    const sequence = seen.sequence + 1
    const { createdAt, id } = seen.value
    const entity = { ...next, id, createdAt, updatedAt: at }
    const value = read(arrange(entity))
    const event = recordOf(tenant, action, value, sequence, at)
    const update = sql`update ${table} this set ${sql.update({ ...driverRow(rowOf(entity)), ...columns, sequence })}`
    return { change: parts(tenant, seen, update, event), value }
  })

  const removing = Effect.fnUntraced(function* (seen: Versioned<A>) {
    const tenant = yield* CurrentTenant
    const event = recordOf(tenant, "deleted", seen.value, seen.sequence + 1, now())
    const removal = sql.literal(spec.removal ?? `delete from ${spec.table} this`)
    return { change: parts(tenant, seen, removal, event), value: seen.value }
  })

  /** Decides on the newest version. Whoever was overtaken while deciding holds the row and decides again. */
  const onNewest = <E, R>(
    id: string,
    decide: (seen: Versioned<A>) => Effect.Effect<{ readonly change: Fragment; readonly value: A }, E, R>
  ) =>
    Effect.gen(function* () {
      const { change, value } = yield* Effect.flatMap(seeing(id), decide)
      if (yield* land(change)) return value
      return yield* Effect.flatMap(hold(id), decide).pipe(
        Effect.flatMap(({ change, value }) => Effect.as(landHeld(change, { isLast: true }), value)),
        atomically(sql)
      )
    })

  /** Changes one resource to what `change` makes of its newest version. */
  const revise = <E, R>(id: string, change: (value: A) => Effect.Effect<Omit<A, keyof Stamped>, E, R>) =>
    onNewest(id, (seen) => Effect.flatMap(change(seen.value), (next) => rewriting(seen, "updated", next)))

  return {
    create,
    revise,
    remove: (id: string) => Effect.asVoid(onNewest(id, removing)),
    accepted,
    hold,
    /** For a version that is held: makes something else of it, under the action's name, or takes it away. */
    rewrite: (seen: Versioned<A>, action: ActionOf<N>, next: Omit<A, keyof Stamped>, along: Along = {}) =>
      Effect.flatMap(rewriting(seen, action, next, along.columns), ({ change, value }) =>
        Effect.as(landHeld(change, along), value)
      ),
    discard: (seen: Versioned<A>, along: Along = {}) =>
      Effect.flatMap(removing(seen), ({ change }) => Effect.asVoid(landHeld(change, along))),
    /** Sets the fields a PATCH names; null takes one away. */
    patch: (id: string, change: Change<A>) => revise(id, (value) => Effect.succeed(patched(value, change)))
  }
}
