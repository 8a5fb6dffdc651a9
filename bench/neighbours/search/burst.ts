import { once } from "node:events"
import { type Attacker, repeat } from "../attacker.ts"
import type { Attack } from "../row.ts"
import type { Prepare, Tried } from "./exploration.ts"
import type { Pools } from "./pools.ts"
import type { Candidate } from "./requests.ts"

/** As many as the attacker has connections. */
const concurrency = 96

/** The pools of a path that have more than one resource. */
const listPools = (path: string, pools: Pools) =>
  [...path.matchAll(/\{\{([^{}]+)\}\}/g)].map(([, name = ""]) => name).filter((name) => (pools[name]?.size ?? 0) > 1)

/**
 * A request that changes something uses each resource once, those aside that were tried: the second time it may not be
 * legal any more.
 */
const countUses = ({ method, path }: Candidate, tried: ReadonlyArray<Tried>, pools: Pools) => {
  if (method === "GET") return undefined
  const unused = listPools(path, pools).map((name) => {
    const used = tried.filter(({ candidate }) => listPools(candidate.path, pools).includes(name)).length
    return Math.max(1, (pools[name]?.size ?? 0) - used)
  })
  return unused.length === 0 ? undefined : Math.min(...unused)
}

export interface Burst {
  readonly candidate: Candidate
  /** Whether the attacker reads the answers. */
  readonly isRead: boolean
  /** What was tried before. */
  readonly tried: ReadonlyArray<Tried>
}

/** Sends one kind of request as fast as the service answers. */
export const makeBurst = (
  attacker: Attacker,
  tenant: string,
  prepare: Prepare,
  pools: Pools,
  { candidate, isRead, tried }: Burst
): Attack => ({
  run: (signal) => {
    const send = () => {
      const { body, headers, method, path } = prepare(candidate)
      const options = { tenant, headers, signal, ...(body === undefined ? {} : { body }) }
      return isRead
        ? attacker.call(method, path, options)
        : leaveUnread(attacker, signal, () => attacker.request(method, path, options))
    }
    const total = countUses(candidate, tried, pools)
    return repeat({ concurrency, signal, ...(total === undefined ? {} : { total }) }, send)
  }
})

const leaveUnread = async (attacker: Attacker, signal: AbortSignal, request: () => ReturnType<Attacker["request"]>) => {
  try {
    const { body, statusCode } = await request()
    // The connection ends with the signal.
    body.on("error", () => {})
    attacker.countResponse(String(statusCode))
    if (statusCode >= 300) await body.dump()
    else if (!signal.aborted) await once(signal, "abort")
  } catch {
    if (!signal.aborted) attacker.countResponse("no response")
  }
}
