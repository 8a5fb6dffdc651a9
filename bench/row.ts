import { tenants } from "./tenants.ts"

/** A request. Without a tenant, the path identifies it. */
export interface RowRequest {
  readonly path: string
  readonly tenant?: string
  readonly body?: object
}

/** A request that every server must reject with this status. */
export interface RejectedRequest {
  readonly description: string
  readonly status: number
  readonly request: RowRequest
}

/** One kind of request to measure. The reference servers must implement it, unless `onlyServer` is set. */
export interface Row {
  readonly name: string
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE"
  /** Distributed over the connections, each of which cycles through its own. */
  readonly requests: ReadonlyArray<RowRequest>
  readonly rejected: ReadonlyArray<RejectedRequest>
  /** Every request is sent at most once, so each server gets its own share. */
  readonly isSentOnce?: boolean
  /** Fields that the server generates, if not the default ones of the method. */
  readonly generatedFields?: ReadonlyArray<string>
  readonly onlyServer?: string
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
