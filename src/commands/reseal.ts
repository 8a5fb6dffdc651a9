import { Console, Effect, Layer } from "effect"
import { checkKeys } from "../layers/keys/KeyCheck.ts"
import { reseal } from "../layers/keys/Reseal.ts"
import { SqlLive } from "../layers/postgres/connection/PostgresClient.ts"
import { Secrets } from "../layers/secrets/Secrets.ts"
import { TelemetryLive } from "../layers/telemetry/Telemetry.ts"

export const run = () =>
  Effect.gen(function* () {
    yield* checkKeys
    const { keyId, results } = yield* reseal
    for (const { moved, name } of results) yield* Console.log(`${name}: ${moved} encrypted again`)
    yield* Console.log(`Everything is encrypted with the key ${keyId}. Older keys can be removed from SECRETS_KEY.`)
  }).pipe(Effect.provide(Layer.mergeAll(Secrets.Default, SqlLive, TelemetryLive("reseal"))))
