import { Resolver as Dns } from "node:dns/promises"
import { Context, Effect } from "effect"

const dns = new Dns({ timeout: 1_500, tries: 2 })

/** Names of which no addresses are known have none; why is of no use to whoever wrote them. */
const ask = (question: Promise<Array<string>>) => question.catch((): Array<string> => [])

/**
 * Asks name servers directly. The system's own way would also look into the machine's own list of hosts, and answers only
 * four at a time: names that somebody lets answer slowly would hold everybody else up.
 */
export const byDns = (name: string): Effect.Effect<ReadonlyArray<string>> =>
  Effect.promise(() => Promise.all([ask(dns.resolve4(name)), ask(dns.resolve6(name))])).pipe(
    Effect.map((answers) => answers.flat()),
    Effect.timeoutTo({ duration: "4 seconds", onSuccess: (found) => found, onTimeout: () => [] })
  )

/** All addresses of a name, as they are this moment. */
export class Resolver extends Context.Reference<Resolver>()("layers/webhook/Resolver", { defaultValue: () => byDns }) {}
