import * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"

interface Row {
  readonly file: string
}

/** Which file a delivery to a drive becomes. It is known before anything is sent, so that it is the same every time. */
export class DeliveryFiles extends Effect.Service<DeliveryFiles>()("layers/DeliveryFiles", {
  effect: Effect.map(SqlClient.SqlClient, (sql) => {
    const of = (tenant: string, delivery: string) =>
      Effect.map(
        Effect.orDie(sql<Row>`
          select file_id as file from delivery_files where tenant_id = ${tenant} and delivery_id = ${delivery}`),
        ([row]) => row?.file
      )

    const kept = (tenant: string, delivery: string, wanted: string) =>
      Effect.map(of(tenant, delivery), (file) => file ?? wanted)

    return {
      of,

      /** Keeps a file for a delivery that has none, and tells which it has then. */
      keep: (tenant: string, delivery: string, file: string) =>
        Effect.orDie(sql`
          insert into delivery_files (tenant_id, delivery_id, file_id) values (${tenant}, ${delivery}, ${file})
          on conflict do nothing`).pipe(Effect.zipRight(kept(tenant, delivery, file))),

      /** Keeps another file instead of one that is no more, and tells which it is. */
      replace: (tenant: string, delivery: string, gone: string, file: string) =>
        Effect.orDie(sql`
          update delivery_files set file_id = ${file}
          where tenant_id = ${tenant} and delivery_id = ${delivery} and file_id = ${gone}`).pipe(
          Effect.zipRight(kept(tenant, delivery, file))
        )
    }
  })
}) {}
