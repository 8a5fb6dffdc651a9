import * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import type { ResourceName } from "../../../domain/events/Catalogue.ts"
import type { Shape } from "./Columns.ts"
import { makeBulk } from "./ResourceBulk.ts"
import { makeReading } from "./ResourceReading.ts"
import type { Identified, Spec, Stamped } from "./ResourceSpec.ts"
import { makeWriting } from "./ResourceWriting.ts"

/**
 * The generic repository over one table of a tenant: list, read, create, update and delete. Updates use an optimistic lock
 * on the version that was read. After a conflict the update locks the row and runs again, so that it conflicts at most
 * once, and takes no lock without need.
 */
export const resource = <A extends Stamped, F extends Identified, N extends ResourceName>(spec: Spec<A, F, N>) =>
  Effect.map(SqlClient.SqlClient, (sql) => {
    const shape: Shape = { ...spec, fields: spec.entity.fields }
    const reader = makeReading<A>(sql, shape, {
      tenantColumn: spec.tenantColumn ?? "tenant_id",
      visible: spec.visible ?? "true"
    })
    return {
      ...reader,
      ...makeWriting(sql, spec, shape, reader),
      ...makeBulk(sql, spec, shape),
      get: (id: string) => Effect.map(reader.current(id), ({ value }) => value)
    }
  })
