import * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"

interface Row {
  readonly file: string
}

/** The file id of each delivery to Google Drive. It is stored before the upload, so that every retry writes the same file. */
export class DeliveryFiles extends Effect.Service<DeliveryFiles>()("layers/DeliveryFiles", {
  effect: Effect.map(SqlClient.SqlClient, (sql) => {
    const find = (tenant: string, delivery: string) =>
      Effect.map(
        Effect.orDie(sql<Row>`
          select file_id as file from delivery_files where tenant_id = ${tenant} and delivery_id = ${delivery}`),
        ([row]) => row?.file
      )

    const findOr = (tenant: string, delivery: string, fallback: string) =>
      Effect.map(find(tenant, delivery), (file) => file ?? fallback)

    return {
      find,

      /** Assigns a file id to a delivery that has none. Returns the assigned id, which may be that of a concurrent call. */
      assign: (tenant: string, delivery: string, file: string) =>
        Effect.orDie(sql`
          insert into delivery_files (tenant_id, delivery_id, file_id) values (${tenant}, ${delivery}, ${file})
          on conflict do nothing`).pipe(Effect.zipRight(findOr(tenant, delivery, file))),

      /** Replaces the id of a file that no longer exists. Returns the assigned id. */
      replace: (tenant: string, delivery: string, missing: string, file: string) =>
        Effect.orDie(sql`
          update delivery_files set file_id = ${file}
          where tenant_id = ${tenant} and delivery_id = ${delivery} and file_id = ${missing}`).pipe(
          Effect.zipRight(findOr(tenant, delivery, file))
        )
    }
  })
}) {}
