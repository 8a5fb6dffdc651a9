import * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import { Email } from "../../domain/contracting/Email.ts"
import { makeResource } from "../infra/postgres/repository/Resource.ts"
import { withSpans } from "../infra/telemetry/UseCaseSpans.ts"

export class Emails extends Effect.Service<Emails>()("layers/Emails", {
  effect: Effect.flatMap(SqlClient.SqlClient, (sql) =>
    makeResource({
      name: "email",
      table: "emails",
      entity: Email,
      relations: ["contact"],
      clientOf: ({ contact }, tenant) =>
        sql`(select client_id from contacts where tenant_id = ${tenant} and id = ${contact})`
    })
  ).pipe(withSpans("Emails"))
}) {}
