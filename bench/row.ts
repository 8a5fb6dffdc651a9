import { tenants } from "./tenants.ts"

/** Programs in `references`. */
export type ReferenceName = "fastify" | "bare" | "stock"

export const defaultReferences: ReadonlyArray<ReferenceName> = ["fastify", "bare"]

/** A request. Without a tenant, the path identifies it. */
export interface RowRequest {
  readonly path: string
  readonly tenant?: string
  readonly body?: object
  /** The subject that sends it, if not the bench's caller. */
  readonly caller?: string
}

/** A request that every server must reject with this status. */
export interface RejectedRequest {
  readonly description: string
  readonly status: number
  readonly request: RowRequest
}

/** One kind of request to measure. */
export interface Row {
  readonly name: string
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE"
  /** Distributed over the connections, each of which cycles through its own. */
  readonly requests: ReadonlyArray<RowRequest>
  readonly rejected: ReadonlyArray<RejectedRequest>
  /** Every request is sent at most once, so each server gets its own share. */
  readonly isSentOnce?: boolean
  /** The servers that implement it beside the service, if not the default ones. */
  readonly references?: ReadonlyArray<ReferenceName>
  /** False if what it allocates does not repeat: that of a long answer depends on how it is split while it is sent. */
  readonly hasBudget?: boolean
  /** The row that this one is compared with. */
  readonly baselineRow?: string
}

export const selectRequests = ({ requests, isSentOnce = false }: Row, serverIndex: number, serverCount: number) => {
  if (!isSentOnce) return requests
  const perServer = Math.floor(requests.length / serverCount)
  return requests.slice(serverIndex * perServer, (serverIndex + 1) * perServer)
}

export const rejectInForeignTenant = (request: RowRequest): RejectedRequest => ({
  description: "in a foreign tenant",
  status: 403,
  request: { ...request, tenant: tenants.foreign.id }
})
