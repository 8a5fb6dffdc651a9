import { once } from "node:events"
import { type Attacker, repeat } from "../attacker.ts"
import type { Attack } from "../row.ts"
import type { Prepare } from "./exploration.ts"
import { numberPlaceholder, type Pools } from "./pools.ts"
import type { Candidate } from "./requests.ts"

/** As many as the attacker has connections. */
const concurrency = 96

/** A request that changes something uses each resource once: the second time it may not be legal any more. */
const countUses = ({ method, path }: Candidate, pools: Pools) => {
  if (method === "GET") return undefined
  const sizes = [...path.matchAll(/\{\{([^{}]+)\}\}/g)]
    .filter(([text]) => text !== numberPlaceholder)
    .map(([, name = ""]) => pools[name]?.size ?? 1)
    .filter((size) => size > 1)
  return sizes.length === 0 ? undefined : Math.min(...sizes)
}

export interface Burst {
  readonly candidate: Candidate
  /** Whether the attacker reads the answers. */
  readonly isRead: boolean
}

/** Sends one kind of request as fast as the service answers. */
export const makeBurst = (
  attacker: Attacker,
  tenant: string,
  prepare: Prepare,
  pools: Pools,
  { candidate, isRead }: Burst
): Attack => ({
  run: (signal) => {
    const send = () => {
      const { body, headers, method, path } = prepare(candidate)
      const options = { tenant, headers, signal, ...(body === undefined ? {} : { body }) }
      return isRead
        ? attacker.call(method, path, options)
        : leaveUnread(attacker, signal, () => attacker.request(method, path, options))
    }
    const total = countUses(candidate, pools)
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
