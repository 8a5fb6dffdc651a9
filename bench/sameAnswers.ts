import { isDeepStrictEqual } from "node:util"
import { Data, Effect } from "effect"
import { type Ask, asksFor, type Row } from "./row.ts"
import type { Server } from "./serverProcess.ts"

export class AnswersDiffer extends Data.TaggedError("AnswersDiffer")<{ readonly message: string }> {}

interface Variant {
  readonly what: string
  /** What each server is asked. */
  readonly asks: ReadonlyArray<Ask>
  readonly token: string
  readonly status: (status: number) => boolean
}

/** As many as it takes to see fields both given and left out. */
export const compared = 12

/** The first requests as they are measured, side by side for as many servers. */
const measured = (row: Row, servers: number) => {
  const all = Array.from({ length: servers }, (_, place) => asksFor(row, place, servers).slice(0, compared))
  return (all[0] ?? []).map((first, n) => all.map((asks) => asks[n] ?? first))
}

/** Requests as they are measured, and those that only a server with all its checks refuses. */
const variants = (row: Row, token: string, servers: number): ReadonlyArray<Variant> => {
  const refused = (what: string, expected: number, ask: Ask, as = token) => ({
    what,
    asks: Array.from({ length: servers }, () => ask),
    token: as,
    status: (status: number) => status === expected
  })
  const first = row.asks.slice(0, 1)
  return [
    ...measured(row, servers).map((asks) => ({
      what: "as measured",
      asks,
      token,
      status: (status: number) => status >= 200 && status < 300
    })),
    ...first.map((ask) => refused("without a valid token", 401, ask, "none")),
    ...first
      .filter(({ body }) => body !== undefined)
      .map((ask) => refused("with an unknown property", 400, { ...ask, body: { ...ask.body, unheardOf: 1 } })),
    ...row.refusals.map(({ ask, status, what }) => refused(what, status, ask))
  ]
}

export const headersOf = ({ body, tenant }: Ask, token: string): Record<string, string> => ({
  authorization: `Bearer ${token}`,
  ...(tenant === undefined ? {} : { "tenant-id": tenant }),
  ...(body === undefined ? {} : { "content-type": "application/json" })
})

const send = async ({ base }: Server, { method }: Row, ask: Ask, token: string) => {
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
const comparable = (row: Row, text: string): unknown => {
  const own = row.made ?? made[row.method] ?? []
  return text === "" ? undefined : JSON.parse(text, (key, value) => (own.includes(key) ? typeof value : value))
}

const answersOf = (servers: ReadonlyArray<Server>, row: Row, { asks, token }: Variant) =>
  Effect.promise(() =>
    Promise.all(servers.flatMap((server, n) => asks.slice(n, n + 1).map((ask) => send(server, row, ask, token))))
  )

const compare = (servers: ReadonlyArray<Server>, row: Row, variant: Variant) =>
  Effect.gen(function* () {
    const answers = yield* answersOf(servers, row, variant)
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
export const requireSameAnswers = (servers: ReadonlyArray<Server>, row: Row, token: string) =>
  Effect.forEach(variants(row, token, servers.length), (variant) => compare(servers, row, variant))
