import { tenants } from "./tenants.ts"

/** One request. A path that leads to its tenant by itself goes without naming one. */
export interface RowRequest {
  readonly path: string
  readonly tenant?: string
  readonly body?: object
}

/** A request that must be refused, and how. */
export interface RejectedRequest {
  readonly description: string
  readonly status: number
  readonly request: RowRequest
}

/** One kind of request to be measured. The references must serve it as well, unless it is for one server only. */
export interface Row {
  readonly name: string
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE"
  /** Made beforehand and dealt out to the connections, each of which sends its own in turn. */
  readonly requests: ReadonlyArray<RowRequest>
  readonly rejected: ReadonlyArray<RejectedRequest>
  /** Nothing is asked twice: each server has a part of the asks to itself, and uses it up. */
  readonly isSentOnce?: boolean
  /** Fields that are another in each answer, where these are not the usual. */
  readonly generatedFields?: ReadonlyArray<string>
  /** The one server that is measured. */
  readonly onlyServer?: string
  /** The row whose cost this one's is told beside. */
  readonly baselineRow?: string
}

/** What of a row's requests is for the server in this place among as many. */
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
