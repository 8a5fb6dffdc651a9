import { Schema } from "effect"

export const ServerKind = Schema.Literal("postgres", "nats", "natsWithItsData")
export type ServerKind = typeof ServerKind.Type

/** Kills a server and starts it again on the same port after the downtime. */
export const Command = Schema.Struct({ id: Schema.Int, kill: ServerKind, downMillis: Schema.Number })
export type Command = typeof Command.Type

export const Addresses = Schema.Struct({
  databaseUrl: Schema.String,
  /** Through PgBouncer, if the run has it. */
  pooledUrl: Schema.String,
  natsUrl: Schema.String
})

export const Done = Schema.Struct({ done: Schema.Int })
