import { Schema } from "effect"
import { rule } from "./Schemas.ts"

/** Every kind of identifier, by its prefix on the wire. */
export const prefixes = {
  tenant: "tnt",
  member: "mem",
  client: "clnt",
  event: "evt"
} as const

export type Resource = keyof typeof prefixes

/** Suffixes are 26 characters today; readers are told only that they are lowercase alphanumeric. */
export const id = <const R extends Resource>(resource: R) =>
  Schema.String.pipe(
    Schema.pattern(
      new RegExp(`^${prefixes[resource]}_[a-z0-9]{1,64}$`),
      rule("format", `must be a ${resource} identifier (${prefixes[resource]}_…)`, {
        pattern: `^${prefixes[resource]}_[a-z0-9]{1,64}$`
      })
    ),
    Schema.brand(prefixes[resource])
  )
