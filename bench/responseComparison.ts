import { isDeepStrictEqual } from "node:util"
import { Data, Effect } from "effect"
import { type Row, type RowRequest, selectRequests } from "./row.ts"
import type { Server } from "./serverProcess.ts"
import type { TokenOf } from "./tokenIssuer.ts"

export class ResponsesDiffer extends Data.TaggedError("AnswersDiffer")<{ readonly message: string }> {}

interface ComparedRequest {
  readonly description: string
  /** One request per server. */
  readonly requests: ReadonlyArray<RowRequest>
  readonly tokenOf: TokenOf
  readonly isExpectedStatus: (status: number) => boolean
}

/** Enough to see optional fields both present and absent. */
export const comparedRequestCount = 12

/** The first measured requests, grouped by server. */
const selectComparedRequests = (row: Row, serverCount: number) => {
  const requestsByServer = Array.from({ length: serverCount }, (_, serverIndex) =>
    selectRequests(row, serverIndex, serverCount).slice(0, comparedRequestCount)
  )
  return (requestsByServer[0] ?? []).map((first, n) => requestsByServer.map((own) => own[n] ?? first))
}

/** Measured requests, and requests that a server must reject. */
const listComparedRequests = (row: Row, tokenOf: TokenOf, serverCount: number): ReadonlyArray<ComparedRequest> => {
  const expectStatus = (description: string, expected: number, request: RowRequest, tokenToSend = tokenOf) => ({
    description,
    requests: Array.from({ length: serverCount }, () => request),
    tokenOf: tokenToSend,
    isExpectedStatus: (status: number) => status === expected
  })
  const first = row.requests.slice(0, 1)
  return [
    ...selectComparedRequests(row, serverCount).map((requests) => ({
      description: "as measured",
      requests,
      tokenOf,
      isExpectedStatus: (status: number) => status >= 200 && status < 300
    })),
    ...first.map((request) => expectStatus("without a valid token", 401, request, () => "none")),
    ...first
      .filter(({ body }) => body !== undefined)
      .map((request) =>
        expectStatus("with an unknown property", 400, { ...request, body: { ...request.body, unknownField: 1 } })
      ),
    ...row.rejected.map(({ request, status, description }) => expectStatus(description, status, request))
  ]
}

export const makeHeaders = (request: RowRequest, tokenOf: TokenOf): Record<string, string> => ({
  authorization: `Bearer ${tokenOf(request)}`,
  ...(request.tenant === undefined ? {} : { "tenant-id": request.tenant }),
  ...(request.body === undefined ? {} : { "content-type": "application/json" })
})

export const sendRequest = async ({ baseUrl }: Server, { method }: Row, request: RowRequest, tokenOf: TokenOf) => {
  const response = await fetch(baseUrl + request.path, {
    method,
    headers: makeHeaders(request, tokenOf),
    ...(request.body === undefined ? {} : { body: JSON.stringify(request.body) })
  })
  const { headers, status } = response
  return { status, requestId: headers.get("x-request-id"), etag: headers.has("etag"), body: await response.text() }
}

/** Fields that the server generates on a write. */
const generatedFields: Partial<Record<Row["method"], ReadonlyArray<string>>> = {
  POST: ["id", "createdAt", "updatedAt"],
  PATCH: ["updatedAt"]
}

/** Replaces generated values by their types. */
const normalizeBody = (row: Row, text: string): unknown => {
  const generated = generatedFields[row.method] ?? []
  return text === "" ? undefined : JSON.parse(text, (key, value) => (generated.includes(key) ? typeof value : value))
}

const sendToAll = (servers: ReadonlyArray<Server>, row: Row, { requests, tokenOf }: ComparedRequest) =>
  Effect.promise(() =>
    Promise.all(
      servers.flatMap((server, n) =>
        requests.slice(n, n + 1).map((request) => sendRequest(server, row, request, tokenOf))
      )
    )
  )

const compareResponses = (servers: ReadonlyArray<Server>, row: Row, variant: ComparedRequest) =>
  Effect.gen(function* () {
    const responses = yield* sendToAll(servers, row, variant)
    const fail = (difference: string) =>
      new ResponsesDiffer({ message: `${row.name}, ${variant.description}: ${difference}` })
    for (const [index, { body, etag, requestId, status }] of responses.entries()) {
      const name = servers[index]?.name
      if (!variant.isExpectedStatus(status)) return yield* fail(`${name} returned ${status} ${body.slice(0, 200)}`)
      if (requestId === null) return yield* fail(`${name} returned no x-request-id`)
      const [first] = responses
      if (etag !== first?.etag) return yield* fail(`${name} and ${servers[0]?.name} do not both return an ETag`)
      const isSameBody =
        first !== undefined && isDeepStrictEqual(normalizeBody(row, body), normalizeBody(row, first.body))
      if (status < 400 && (status !== first?.status || !isSameBody)) {
        return yield* fail(`${name} returned another body than ${servers[0]?.name}: ${body.slice(0, 200)}`)
      }
    }
  })

/** A reference server that responds differently, or checks less, is no valid comparison. */
export const requireSameResponses = (servers: ReadonlyArray<Server>, row: Row, tokenOf: TokenOf) =>
  Effect.forEach(listComparedRequests(row, tokenOf, servers.length), (variant) =>
    compareResponses(servers, row, variant)
  )
