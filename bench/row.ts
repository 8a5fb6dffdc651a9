import { tenants } from "./tenants.ts"

/** One request. A path that leads to its tenant by itself goes without naming one. */
export interface Ask {
  readonly path: string
  readonly tenant?: string
  readonly body?: object
}

/** A request that must be refused, and how. */
export interface Refusal {
  readonly what: string
  readonly status: number
  readonly ask: Ask
}

/** One kind of request to be measured. The references must serve it as well, unless it is for one server only. */
export interface Row {
  readonly name: string
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE"
  /** Made beforehand and dealt out to the connections, each of which sends its own in turn. */
  readonly asks: ReadonlyArray<Ask>
  readonly refusals: ReadonlyArray<Refusal>
  /** Nothing is asked twice: each server has a part of the asks to itself, and uses it up. */
  readonly once?: boolean
  /** Fields that are another in each answer, where these are not the usual. */
  readonly made?: ReadonlyArray<string>
  /** The one server that is measured. */
  readonly only?: string
  /** The row whose cost this one's is told beside. */
  readonly beside?: string
}

/** What of a row's requests is for the server in this place among as many. */
export const asksFor = ({ asks, once = false }: Row, place: number, servers: number) => {
  if (!once) return asks
  const each = Math.floor(asks.length / servers)
  return asks.slice(place * each, (place + 1) * each)
}

export const inForeignTenant = (ask: Ask): Refusal => ({
  what: "in a foreign tenant",
  status: 403,
  ask: { ...ask, tenant: tenants.foreign.id }
})
