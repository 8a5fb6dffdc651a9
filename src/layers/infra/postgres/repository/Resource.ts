import * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import type { ResourceName } from "../../../../domain/events/EventCatalogue.ts"
import type { TableShape } from "./Columns.ts"
import { makeResourceReader } from "./ResourceReader.ts"
import type { GeneratedFields, IdentifiedFields, ResourceSpec } from "./ResourceSpec.ts"
import { makeBulkWriter, makeResourceWriter } from "./ResourceWriter.ts"

/**
 * The generic repository over one table of a tenant: list, read, create, update and delete. Updates use an optimistic lock
 * on the version that was read. After a conflict the update locks the row and runs again, so that it conflicts at most
 * once, and takes no lock without need.
 */
export const makeResource = <A extends GeneratedFields, F extends IdentifiedFields, N extends ResourceName>(
  spec: ResourceSpec<A, F, N>
) =>
  Effect.map(SqlClient.SqlClient, (sql) => {
    const shape: TableShape = { ...spec, fields: spec.entity.fields }
    const reader = makeResourceReader<A>(
      sql,
      shape,
      {
        tenantColumn: spec.tenantColumn ?? "tenant_id",
        visible: spec.visible ?? "true"
      },
      spec.sorts
    )
    return {
      ...reader,
      ...makeResourceWriter(sql, spec, shape, reader),
      ...makeBulkWriter(sql, spec, shape, reader),
      get: (id: string) => Effect.map(reader.getVersion(id), ({ value }) => value)
    }
  })
