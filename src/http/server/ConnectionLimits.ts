import type { IncomingMessage, ServerResponse } from "node:http"
import type { Socket } from "node:net"
import { ServiceUnavailable, TooManyRequests } from "../../domain/Errors.ts"
import { makeClientAddress, makeDirectAddress } from "./request/ClientAddress.ts"
import { errorResponse, type HttpResponse } from "./response/HttpResponse.ts"

const tooManyConnections = errorResponse(new ServiceUnavailable())
const tooManyOfAddress = errorResponse(new TooManyRequests())

/** Counts by address, up to a maximum. */
class AddressCounts {
  readonly #max: number
  readonly #counts = new Map<string, number>()

  constructor(max: number) {
    this.#max = max
  }

  /** Returns whether one more is within the maximum, and counts it then. */
  tryAdd(address: string) {
    const count = this.#counts.get(address) ?? 0
    if (count >= this.#max) return false
    this.#counts.set(address, count + 1)
    return true
  }

  remove(address: string) {
    const count = (this.#counts.get(address) ?? 0) - 1
    if (count > 0) this.#counts.set(address, count)
    else this.#counts.delete(address)
  }
}

interface Limits {
  readonly max: number
  readonly maxPerAddress: number
  readonly trustedProxies: ReadonlyArray<string>
}

/**
 * Limits connections in all and by address. A trusted proxy has connections for all of its clients: these count by the
 * requests that are in progress.
 */
export const makeConnectionLimits = ({ max, maxPerAddress, trustedProxies }: Limits) => {
  const directAddressOf = makeDirectAddress(trustedProxies)
  const clientAddressOf = makeClientAddress(trustedProxies)
  const connections = new AddressCounts(maxPerAddress)
  const proxiedRequests = new AddressCounts(maxPerAddress)
  const proxies = new WeakSet<Socket>()
  let count = 0

  return {
    /** Counts a connection until it closes. Returns the response to one too many. */
    connect: (socket: Socket): HttpResponse | undefined => {
      if (count >= max) return tooManyConnections
      const address = directAddressOf(socket)
      if (address === undefined) proxies.add(socket)
      else if (!connections.tryAdd(address)) return tooManyOfAddress
      count++
      socket.once("close", () => {
        count--
        if (address !== undefined) connections.remove(address)
      })
      return undefined
    },

    /** Counts the request of a proxy until its response closes. Returns the response to one too many. */
    request: (request: IncomingMessage, response: ServerResponse): HttpResponse | undefined => {
      if (!proxies.has(request.socket)) return undefined
      const address = clientAddressOf(request)
      if (!proxiedRequests.tryAdd(address)) return tooManyOfAddress
      response.once("close", () => proxiedRequests.remove(address))
      return undefined
    }
  }
}

export type ConnectionLimits = ReturnType<typeof makeConnectionLimits>

/** For servers that only operators reach. */
export const noConnectionLimits: ConnectionLimits = { connect: () => undefined, request: () => undefined }
