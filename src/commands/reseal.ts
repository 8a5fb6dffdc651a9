import { Console, Effect, Layer } from "effect"
import { checkKeys } from "../layers/infra/keys/KeyCheck.ts"
import { reseal } from "../layers/infra/keys/Reseal.ts"
import { SqlLive } from "../layers/infra/postgres/connection/PostgresClient.ts"
import { Secrets } from "../layers/infra/secrets/Secrets.ts"
import { TelemetryLive } from "../layers/infra/telemetry/Telemetry.ts"

export const run = () =>
  Effect.gen(function* () {
    yield* checkKeys
    const { keyId, results } = yield* reseal
    for (const { moved, name } of results) yield* Console.log(`${name}: ${moved} encrypted again`)
    yield* Console.log(`Everything is encrypted with the key ${keyId}. Older keys can be removed from SECRETS_KEY.`)
  }).pipe(Effect.provide(Layer.mergeAll(Secrets.Default, SqlLive, TelemetryLive("reseal"))))
