import { isDeepStrictEqual } from "node:util"
import { Data, Effect } from "effect"
import type { Ask, Row } from "./rows.ts"
import type { Server } from "./serverProcess.ts"

export class AnswersDiffer extends Data.TaggedError("AnswersDiffer")<{ readonly message: string }> {}

interface Variant {
  readonly what: string
  readonly ask: Ask
  readonly token: string
  readonly status: (status: number) => boolean
}

/** As many as it takes to see fields both given and left out. */
const compared = 12

/** Requests as they are measured, and those that only a server with all its checks refuses. */
const variants = ({ asks, refusals }: Row, token: string): ReadonlyArray<Variant> => {
  const refused = (what: string, expected: number, ask: Ask, as = token) => ({
    what,
    ask,
    token: as,
    status: (status: number) => status === expected
  })
  return [
    ...asks.slice(0, compared).map((ask) => ({
      what: "as measured",
      ask,
      token,
      status: (status: number) => status >= 200 && status < 300
    })),
    ...asks.slice(0, 1).map((ask) => refused("without a valid token", 401, ask, "none")),
    ...asks
      .slice(0, 1)
      .filter(({ body }) => body !== undefined)
      .map((ask) => refused("with an unknown property", 400, { ...ask, body: { ...ask.body, unheardOf: 1 } })),
    ...refusals.map(({ ask, status, what }) => refused(what, status, ask))
  ]
}

export const headersOf = ({ body, tenant }: Ask, token: string): Record<string, string> => ({
  authorization: `Bearer ${token}`,
  ...(tenant === undefined ? {} : { "tenant-id": tenant }),
  ...(body === undefined ? {} : { "content-type": "application/json" })
})

const send = async ({ base }: Server, { method }: Row, { ask, token }: Variant) => {
  const response = await fetch(base + ask.path, {
    method,
    headers: headersOf(ask, token),
    ...(ask.body === undefined ? {} : { body: JSON.stringify(ask.body) })
  })
  return { status: response.status, requestId: response.headers.get("x-request-id"), body: await response.text() }
}

/** What a write makes up by itself. */
const made: Partial<Record<Row["method"], ReadonlyArray<string>>> = {
  POST: ["id", "createdAt", "updatedAt"],
  PATCH: ["updatedAt"]
}

/** A body to compare: of what a write makes up, such as identifiers, only the kind. */
const comparable = ({ method }: Row, text: string): unknown =>
  text === "" ? undefined : JSON.parse(text, (key, value) => (made[method]?.includes(key) ? typeof value : value))

const compare = (servers: ReadonlyArray<Server>, row: Row, variant: Variant) =>
  Effect.gen(function* () {
    const answers = yield* Effect.promise(() => Promise.all(servers.map((server) => send(server, row, variant))))
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
  Effect.forEach(rows, (row) => Effect.forEach(variants(row, token), (variant) => compare(servers, row, variant)))
