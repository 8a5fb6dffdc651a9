import { Resolver as Dns } from "node:dns/promises"
import { Context, Effect } from "effect"

const dns = new Dns({ timeout: 1_500, tries: 2 })

/** Treats a failed lookup as no addresses: the author of the URL cannot act on the cause. */
const orNone = (lookup: Promise<Array<string>>) => lookup.catch((): Array<string> => [])

/**
 * Queries the name servers directly. `dns.lookup` would also read the hosts file, and it runs in libuv's pool of four
 * threads: a few slow names would block all other lookups.
 */
export const resolveByDns = (name: string): Effect.Effect<ReadonlyArray<string>> =>
  Effect.promise(() => Promise.all([orNone(dns.resolve4(name)), orNone(dns.resolve6(name))])).pipe(
    Effect.map((families) => families.flat()),
    Effect.timeoutTo({ duration: "4 seconds", onSuccess: (found) => found, onTimeout: () => [] })
  )

/** Resolves a host name to its current addresses. */
export class Resolver extends Context.Reference<Resolver>()("layers/webhook/Resolver", {
  defaultValue: () => resolveByDns
}) {}
