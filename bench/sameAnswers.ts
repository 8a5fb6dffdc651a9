import { isDeepStrictEqual } from "node:util"
import { Data, Effect } from "effect"
import type { Row } from "./rows.ts"
import type { Server } from "./serverProcess.ts"
import { tenants } from "./tenants.ts"

export class AnswersDiffer extends Data.TaggedError("AnswersDiffer")<{ readonly message: string }> {}

interface Variant {
  readonly what: string
  readonly status: (status: number) => boolean
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: object
}

/** The request as it is measured, and those that only a server with all its checks refuses. */
const variants = ({ body }: Row): ReadonlyArray<Variant> => [
  { what: "as measured", status: (status) => status >= 200 && status < 300 },
  { what: "without a valid token", status: (status) => status === 401, headers: { authorization: "Bearer none" } },
  { what: "in a foreign tenant", status: (status) => status === 403, headers: { "tenant-id": tenants.foreign.id } },
  ...(body === undefined
    ? []
    : [
        {
          what: "with an unknown property",
          status: (status: number) => status === 400,
          body: { ...body(0), unheardOf: 1 }
        }
      ])
]

export const headersOf = ({ body, headers, tenant }: Row, token: string): Record<string, string> => ({
  authorization: `Bearer ${token}`,
  "tenant-id": tenant,
  ...(body === undefined ? {} : { "content-type": "application/json" }),
  ...headers
})

const ask = async ({ base }: Server, row: Row, token: string, { body = row.body?.(0), headers }: Variant) => {
  const response = await fetch(base + row.path, {
    method: row.method,
    headers: { ...headersOf(row, token), ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) })
  })
  return { status: response.status, requestId: response.headers.get("x-request-id"), body: await response.text() }
}

const made = new Set(["id", "createdAt", "updatedAt"])

/** A body to compare: of what a write makes up, such as identifiers, only the kind. */
const comparable = (row: Row, text: string): unknown =>
  text === ""
    ? undefined
    : JSON.parse(text, (key, value) => (row.method !== "GET" && made.has(key) ? typeof value : value))

const compare = (servers: ReadonlyArray<Server>, row: Row, token: string, variant: Variant) =>
  Effect.gen(function* () {
    const answers = yield* Effect.promise(() => Promise.all(servers.map((server) => ask(server, row, token, variant))))
    const differ = (how: string) => new AnswersDiffer({ message: `${row.name}, ${variant.what}: ${how}` })
    for (const [index, { body, requestId, status }] of answers.entries()) {
      const name = servers[index]?.name
      if (!variant.status(status)) return yield* differ(`${name} answers ${status} ${body.slice(0, 200)}`)
      if (requestId === null) return yield* differ(`${name} answers without x-request-id`)
      const [first] = answers
      const same = first !== undefined && isDeepStrictEqual(comparable(row, body), comparable(row, first.body))
      if (status < 400 && (status !== first?.status || !same)) {
        return yield* differ(`${name} answers another body than ${servers[0]?.name}: ${body.slice(0, 200)}`)
      }
    }
  })

/** A server that answers something else, or checks less, may be as fast as it likes: it must not be compared with. */
export const requireSameAnswers = (servers: ReadonlyArray<Server>, rows: ReadonlyArray<Row>, token: string) =>
  Effect.forEach(rows, (row) => Effect.forEach(variants(row), (variant) => compare(servers, row, token, variant)))
