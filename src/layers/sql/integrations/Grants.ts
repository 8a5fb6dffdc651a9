import * as SqlClient from "@effect/sql/SqlClient"
import { Data, Effect } from "effect"
import { Secrets } from "../../secrets/Secrets.ts"

/** Nobody lets us in any more; the integration says so already. */
export class GrantLost extends Data.TaggedError("GrantLost")<{ readonly message: string }> {}

/** Who gives out tokens could not be asked. */
export class ProviderAway extends Data.TaggedError("ProviderAway")<{ readonly message: string }> {}

export interface Access {
  readonly accessToken: string
  readonly siteId?: string
  readonly siteUrl?: string
}

interface Row {
  readonly access: Uint8Array
  readonly generation: number
  readonly siteId: string | null
  readonly siteUrl: string | null
}

/** A stand-in: reads what is kept and renews nothing. */
export class Grants extends Effect.Service<Grants>()("layers/Grants", {
  dependencies: [Secrets.Default],
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const secrets = yield* Secrets

    const accessOf = (tenant: string, integration: string): Effect.Effect<Access, GrantLost | ProviderAway> =>
      Effect.orDie(sql<Row>`
        select access, generation, site_id as "siteId", site_url as "siteUrl" from grants
        where tenant_id = ${tenant} and integration_id = ${integration}`).pipe(
        Effect.flatMap(([row]) => {
          if (row === undefined) return Effect.fail(new GrantLost({ message: "Nobody has authorized it" }))
          const place = JSON.stringify(["grants", tenant, integration, row.generation, "access"])
          return Effect.succeed({
            accessToken: secrets.open(place, row.access).toString(),
            ...(row.siteId === null ? {} : { siteId: row.siteId }),
            ...(row.siteUrl === null ? {} : { siteUrl: row.siteUrl })
          })
        })
      )

    return {
      accessOf,
      renew: (tenant: string, integration: string, _usedToken: string) => accessOf(tenant, integration)
    }
  })
}) {}
