import type * as SqlClient from "@effect/sql/SqlClient"
import type { Fragment } from "@effect/sql/Statement"
import { Effect } from "effect"
import { EncodedJson } from "../../../../domain/EncodedJson.ts"
import { PreconditionFailed } from "../../../../domain/Errors.ts"
import { etagOf } from "../../../../domain/Etag.ts"
import type { ActionOf, ResourceName } from "../../../../domain/events/EventCatalogue.ts"
import { prefixOf } from "../../../../domain/Ids.ts"
import { applyPatch, type Patch } from "../../../../domain/Schemas.ts"
import { CurrentTenant, IfMatch } from "../../../../domain/tenancy/RequestContext.ts"
import { yieldIfLong } from "../../concurrency/EventLoop.ts"
import { commitWith, inTransaction } from "../connection/Transactions.ts"
import { makeId } from "../IdGenerator.ts"
import {
  columnOf,
  makeEntityMapper,
  makeResourceEncoder,
  makeRowMapper,
  type Row,
  type TableShape,
  toDriverRow
} from "./Columns.ts"
import { mapConstraintErrors } from "./ConstraintErrors.ts"
import { currentOrigin, currentWrite, insertEvent, insertEvents, insertEventsOfType } from "./EventLog.ts"
import { makeUseCounter } from "./InUseErrors.ts"
import type { ResourceReader } from "./ResourceReader.ts"
import type { GeneratedFields, IdentifiedFields, ResourceSpec, Versioned } from "./ResourceSpec.ts"

const now = () => new Date().toISOString()

/** A change of a locked resource, with the action of its event. */
interface Change<A, N extends ResourceName> {
  readonly version: Versioned<A>
  readonly action: ActionOf<N>
  readonly next: Omit<A, keyof GeneratedFields>
}

/** Bulk writes: one statement for many resources of a table and their events. */
export const makeBulkWriter = <A extends GeneratedFields, F extends IdentifiedFields, N extends ResourceName>(
  sql: SqlClient.SqlClient,
  spec: ResourceSpec<A, F, N>,
  shape: TableShape,
  { read }: ResourceReader<A>
) => {
  const table = sql.literal(spec.table)
  const toEntity = makeEntityMapper(shape)
  const recordMany = insertEvents(sql)
  const encode = makeResourceEncoder(shape)
  const prefix = prefixOf(spec.entity.fields.id)
  const recordAll = insertEventsOfType(sql)
  const columns = sql.literal(
    ["tenant_id", ...Object.keys(makeRowMapper(shape)({})), "sequence"].map((column) => `"${column}"`).join(", ")
  )

  const eventType = (action: string) => `${spec.name}.${action}`
  const updated = sql.literal(`${spec.table}_updated`)

  return {
    /**
     * The CTEs that insert resources as part of another write. They insert in the order of the `sortColumns`, so that
     * concurrent inserts of the same unique keys do not deadlock. Each resource is encoded once for its row, its event and
     * the response.
     */
    buildBulkInsert: Effect.fnUntraced(function* (
      all: ReadonlyArray<Omit<A, keyof GeneratedFields>>,
      client: string | undefined,
      sortColumns: string
    ) {
      const tenant = yield* CurrentTenant
      const origin = yield* currentOrigin
      const at = new Date().toISOString()
      const common = `"tenant_id":${JSON.stringify(tenant)},"sequence":1`
      const created = all.map((fields) => {
        const id = makeId(prefix)
        const { rowJson, json } = encode({ id, createdAt: at, updatedAt: at }, fields, common)
        return { id, row: rowJson, shown: json }
      })
      yield* yieldIfLong(all.length)
      const items = created.map(({ id, shown }) => ({ resource: id, sequence: 1, data: shown }))
      const rows = `[${created.map(({ row }) => row).join(",")}]`
      const events = recordAll({ tenant, client, at, ...origin, type: eventType("created") }, items)
      yield* yieldIfLong(all.length)
      const ctes = sql`
        created as (
          insert into ${table} (${columns})
          select ${columns} from json_populate_recordset(null::${table}, ${rows}::json)
          order by ${sql.literal(sortColumns)}
        ), logged as (${events})`
      return { ctes, values: new EncodedJson<ReadonlyArray<A>>(`[${created.map(({ shown }) => shown).join(",")}]`) }
    }),

    /**
     * The CTEs that update these fields of locked resources as part of another write, each with its event. They are named
     * after the table. A locked row cannot change; if its version differs all the same, `1 / 0` fails the statement.
     */
    buildBulkUpdate: Effect.fnUntraced(function* (
      all: ReadonlyArray<Change<A, N>>,
      client: string | undefined,
      fields: ReadonlyArray<keyof A & string>
    ) {
      const tenant = yield* CurrentTenant
      const origin = yield* currentOrigin
      const at = now()
      const columns = [...fields, "updatedAt"].map((name) => [name, columnOf(shape, name)] as const)
      const assignments = [...columns.map(([, column]) => column), "sequence"].map(
        (column) => `"${column}" = next."${column}"`
      )
      const changes = all.map(({ action, next, version }) => {
        const { createdAt, id } = version.value
        const sequence = version.sequence + 1
        const entity = toEntity({ ...next, id, createdAt, updatedAt: at })
        const row = Object.fromEntries(columns.map(([name, column]) => [column, entity[name] ?? null]))
        const value = read(entity)
        const event = { tenant, type: eventType(action), resource: id, client, sequence, at, ...origin, data: value }
        return { row: { id, sequence, ...row }, event, value }
      })
      const rows = JSON.stringify(changes.map(({ row }) => row))
      const cte = sql`
        ${updated} as (
          update ${table} this set ${sql.literal(assignments.join(", "))}
          from json_populate_recordset(null::${table}, ${rows}::json) next
          where this.tenant_id = ${tenant} and this.id = next.id and this.sequence = next.sequence - 1
          returning 1
        ), ${sql.literal(`${spec.table}_logged`)} as (
          ${recordMany(changes.map(({ event }) => event))}
          where 1 / (select (count(*) = ${all.length})::integer from ${updated}) = 1
        )`
      return { cte, values: changes.map(({ value }) => value) }
    }),

    /** The CTEs that delete locked resources as part of another write. */
    buildBulkDelete: Effect.fnUntraced(function* (all: ReadonlyArray<Versioned<A>>, client: string | undefined) {
      const tenant = yield* CurrentTenant
      const items = all.map(({ sequence, value }) => ({
        resource: value.id,
        sequence: sequence + 1,
        data: JSON.stringify(value)
      }))
      yield* yieldIfLong(all.length)
      const origin = yield* currentOrigin
      const at = new Date().toISOString()
      const events = recordAll({ tenant, client, at, ...origin, type: eventType("deleted") }, items)
      const ids = JSON.stringify(all.map(({ value }) => value.id))
      yield* yieldIfLong(all.length)
      return sql`
        gone as (
          delete from ${table} where tenant_id = ${tenant} and id in (select json_array_elements_text(${ids}::json))
        ), logged as (${events})`
    })
  }
}

/** Whether an If-Match header with these tags, or none, accepts this version. */
export const isPreconditionMet = (tags: ReadonlyArray<string> | undefined, value: unknown) =>
  tags === undefined || tags.includes("*") || tags.includes(etagOf(value))

/** Options of a write. */
export interface WriteOptions {
  /** Columns without a field. */
  readonly columns?: Row
  /** CTEs that write other tables, each `<name> as (<statement>)`. */
  readonly extraCtes?: ReadonlyArray<Fragment>
  /** Commits with this statement, which must be the last of its transaction. */
  readonly commit?: boolean
}

/** Options of the insert of a resource. */
interface CreateOptions<N extends ResourceName> extends Omit<WriteOptions, "columns"> {
  readonly id?: string
  /** The action of its event. Default `created`. */
  readonly action?: ActionOf<N>
}

/** Writes resources of a table, each with its event in one statement. */
export const makeResourceWriter = <A extends GeneratedFields, F extends IdentifiedFields, N extends ResourceName>(
  sql: SqlClient.SqlClient,
  spec: ResourceSpec<A, F, N>,
  shape: TableShape,
  { getVersion, lockForUpdate, inTenant, read }: ResourceReader<A>
) => {
  const table = sql.literal(spec.table)
  const toEntity = makeEntityMapper(shape)
  const toRow = makeRowMapper(shape)
  const toEventData = spec.toEventData ?? ((entity: A): unknown => entity)
  const toResponseBody = spec.toResponseBody ?? toEventData
  const prefix = prefixOf(spec.entity.fields.id)
  const withConstraintErrors = mapConstraintErrors(shape)
  const withUseCount = makeUseCounter(sql, spec.name)
  const insertChangeEvent = insertEvent(sql, sql.literal("changed"))
  const tenantColumn = spec.tenantColumn ?? "tenant_id"

  const withCtes = (extraCtes: ReadonlyArray<Fragment>, last: Fragment) =>
    extraCtes.reduceRight<Fragment>((rest, cte) => sql`${cte}, ${rest}`, last)

  const buildEventInsert = (
    { origin, tenant }: Effect.Effect.Success<typeof currentWrite>,
    action: ActionOf<N>,
    value: A,
    sequence: number,
    at: string
  ) =>
    insertChangeEvent({
      tenant,
      type: `${spec.name}.${action}`,
      resource: value.id,
      client: spec.clientOf?.(value, tenant),
      sequence,
      at,
      createdBy: origin.createdBy,
      traceParent: origin.traceParent,
      data: toEventData(value)
    })

  const create = Effect.fnUntraced(function* (
    fields: Omit<A, keyof GeneratedFields>,
    { action = "created", commit = false, extraCtes = [], id = makeId(prefix) }: CreateOptions<N> = {}
  ) {
    const write = yield* currentWrite
    const at = now()
    const entity = { ...fields, id, createdAt: at, updatedAt: at }
    const value = read(toEntity(entity))
    const row = { [tenantColumn]: write.tenant, ...toDriverRow(toRow(entity)), sequence: 1 }
    const event = buildEventInsert(write, action, value, 1, at)
    const insert = sql`changed as (insert into ${table} ${sql.insert(row)} returning 1)`
    const statement = withConstraintErrors(sql`with ${withCtes(extraCtes, insert)} ${event}`)
    yield* commit ? commitWith(statement) : statement
    return value
  })

  /** The CTEs that change a row, if its version is still current, and insert the event. */
  const buildChange = (tenant: string, version: Versioned<A>, change: Fragment, event: Fragment) => sql`
    changed as (
      ${change} where ${inTenant(tenant)} and this.id = ${version.value.id} and this.sequence = ${version.sequence}
      returning 1
    ), event as (${event})`

  /** Optimistic write. Returns false if a concurrent write has changed the row. */
  const applyIfCurrent = (change: Fragment) =>
    Effect.map(withConstraintErrors(sql<object>`with ${change} select 1 from changed`), (rows) => rows.length === 1)

  /**
   * Writes a locked row, and the extra CTEs, atomically. A locked row cannot change; if its version differs all the same,
   * `1 / count(*)` fails the statement.
   */
  const applyLocked = (change: Fragment, { extraCtes = [], commit = false }: WriteOptions) => {
    const statement = withConstraintErrors(sql`with ${withCtes(extraCtes, change)} select 1 / count(*) from changed`)
    return commit ? commitWith(statement) : statement
  }

  /** Fails unless the If-Match header of the request accepts this version. */
  const requireIfMatch = (version: Versioned<A>) =>
    Effect.flatMap(IfMatch, (tags) =>
      isPreconditionMet(tags, toResponseBody(version.value))
        ? Effect.succeed(version)
        : Effect.fail(new PreconditionFailed())
    )
  const readForWrite = (id: string) => Effect.flatMap(getVersion(id), requireIfMatch)
  /** Locks the row until the end of the transaction, and checks If-Match. */
  const lockForWrite = (id: string) => Effect.flatMap(lockForUpdate(id), requireIfMatch)

  const buildUpdate = Effect.fnUntraced(function* (
    version: Versioned<A>,
    action: ActionOf<N>,
    next: Omit<A, keyof GeneratedFields>,
    columns: Row = {}
  ) {
    const write = yield* currentWrite
    const at = now()
    const sequence = version.sequence + 1
    const { createdAt, id } = version.value
    const entity = { ...next, id, createdAt, updatedAt: at }
    const value = read(toEntity(entity))
    const event = buildEventInsert(write, action, value, sequence, at)
    const update = sql`update ${table} this set ${sql.update({ ...toDriverRow(toRow(entity)), ...columns, sequence })}`
    return { change: buildChange(write.tenant, version, update, event), value }
  })

  const buildDelete = Effect.fnUntraced(function* (version: Versioned<A>) {
    const write = yield* currentWrite
    const event = buildEventInsert(write, "deleted", version.value, version.sequence + 1, now())
    const removal = sql.literal(spec.deleteSql ?? `delete from ${spec.table} this`)
    return { change: buildChange(write.tenant, version, removal, event), value: version.value }
  })

  /** Runs `decide` on the current version. After a conflict it locks the row and runs `decide` again. */
  const withOptimisticRetry = <E, R>(
    id: string,
    decide: (version: Versioned<A>) => Effect.Effect<{ readonly change: Fragment; readonly value: A }, E, R>
  ) =>
    Effect.gen(function* () {
      const { change, value } = yield* Effect.flatMap(readForWrite(id), decide)
      if (yield* applyIfCurrent(change)) return value
      return yield* Effect.flatMap(lockForWrite(id), decide).pipe(
        Effect.flatMap(({ change, value }) => Effect.as(applyLocked(change, { commit: true }), value)),
        inTransaction(sql)
      )
    }).pipe(withUseCount(id))

  /** Updates a resource with a function of its current version. */
  const updateWith = <E, R>(id: string, change: (value: A) => Effect.Effect<Omit<A, keyof GeneratedFields>, E, R>) =>
    withOptimisticRetry(id, (version) =>
      Effect.flatMap(change(version.value), (next) => buildUpdate(version, "updated", next))
    )

  return {
    create,
    updateWith,
    remove: (id: string) => Effect.asVoid(withOptimisticRetry(id, buildDelete)),
    requireIfMatch,
    lockForWrite,
    withUseCount,
    /** Updates a locked version, with an event named after the action. */
    updateLocked: (
      version: Versioned<A>,
      action: ActionOf<N>,
      next: Omit<A, keyof GeneratedFields>,
      options: WriteOptions = {}
    ) =>
      Effect.flatMap(buildUpdate(version, action, next, options.columns), ({ change, value }) =>
        Effect.as(applyLocked(change, options), value)
      ),
    /** Deletes a locked version. */
    deleteLocked: (version: Versioned<A>, options: WriteOptions = {}) =>
      Effect.flatMap(buildDelete(version), ({ change }) => Effect.asVoid(applyLocked(change, options))),
    /** Sets the fields of a PATCH body; null removes one. */
    patch: (id: string, change: Patch<A>) => updateWith(id, (value) => Effect.succeed(applyPatch(value, change)))
  }
}
