import { randomInt } from "node:crypto"
import { Agent } from "node:http"
import * as fc from "fast-check"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { makeConformanceCheck } from "../../support/assertions/conformance.ts"
import { addressOf, type Operation, operationsOf } from "../../support/assertions/operations.ts"
import { type AnyRequest, anyRequest } from "../../support/fixtures/requestArbitraries.ts"
import { makeTenantFixture } from "../../support/fixtures/tenantFixture.ts"
import { sendRaw } from "../../support/servers/rawHttp.ts"
import { type Service, startService } from "../../support/servers/service.ts"

const requests = 10_000
const concurrency = 16
const remembered = 40
/** Tenants there are from the start, each with one of everything. */
const worlds = 12

const agent = new Agent({ keepAlive: true, maxSockets: concurrency })

type Place = AnyRequest["id"]

const at = <A>(items: ReadonlyArray<A>, index: number) => items[index % Math.max(1, items.length)]

describe("any JSON at every operation", () => {
  let service: Service
  let conforms: ReturnType<typeof makeConformanceCheck>
  let tokens: { readonly known: string; readonly foreign: string }
  beforeAll(async () => {
    service = await startService()
    conforms = makeConformanceCheck(service.document)
    for (let world = 0; world < worlds; world++) {
      const { ids, tenant } = await makeTenantFixture(service, "known")
      for (const id of ids.values()) learn(id, tenant)
    }
    tokens = { known: await service.token("known"), foreign: await service.token("foreign") }
  })
  afterAll(() => {
    agent.destroy()
    return service.stop()
  })

  /** Identifiers the service has given out, newest last, each with the tenant it belongs to. */
  const given = new Map<string, string>()
  const learn = (id: string, tenant: string | undefined) => given.set(id, id.startsWith("tnt_") ? id : (tenant ?? ""))
  const forget = (gone: string) => {
    for (const [id, home] of given) if (id === gone || home === gone) given.delete(id)
  }
  const givenLike = (pattern: RegExp) => [...given.keys()].filter((id) => pattern.test(id)).slice(-remembered)

  const idFor = ({ method, pathParameters }: Operation, name: string, { choice, index, odd }: Place) => {
    if (choice === "odd" || choice === "none") return odd
    const pattern = pathParameters.find((parameter) => parameter.name === name)?.schema.pattern ?? "."
    const known = givenLike(new RegExp(pattern))
    if (method !== "DELETE") return at(known, index) ?? "unknown"
    // Deleted are those there are plenty of, so that something is left for the other operations, and of these the
    // newest, which nothing refers to yet.
    return (known.length < 10 ? undefined : at(known.slice(-3), index)) ?? "unknown"
  }

  const tenantFor = ({ choice, index, odd }: Place, home: string | undefined) => {
    if (choice === "none") return undefined
    if (choice === "odd") return odd
    return (choice === "known" ? home : undefined) ?? at(givenLike(/^tnt_/), index) ?? "tnt_unknown"
  }

  const tokenFor = ({ choice, odd }: Place) => {
    if (choice === "none") return undefined
    return choice === "odd" ? `.${odd.replace(/[^\w.]/g, "")}` : tokens[choice]
  }

  /** A body in which every word for a known identifier is one, and those identifiers. */
  const referring = (body: string | undefined, index: number) => {
    const named: Array<string> = []
    const text = body?.replace(/\b([a-z]+)_known\b/g, (word, prefix: string) => {
      const known = at(givenLike(new RegExp(`^${prefix}_`)), index) ?? word
      named.push(known)
      return known
    })
    return { body: text, named }
  }

  const perform = async ({ body: written, caller, headers, id, operation, query, tenant }: AnyRequest) => {
    const ids = new Map(operation.pathParameters.map(({ name }) => [name, idFor(operation, name, id)]))
    const { body, named } = referring(written, id.index)
    const home = [...ids.values(), ...named].flatMap((each) => given.get(each) ?? [])[0]
    const inTenant = tenantFor(tenant, home)
    const token = tokenFor(caller)
    const address = addressOf(operation, (name) => encodeURIComponent(ids.get(name) ?? ""))
    const path = query === "" ? address : `${address}?${query}`
    const answer = await sendRaw(service.url, {
      agent,
      method: operation.method,
      path,
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(inTenant === undefined ? {} : { "tenant-id": inTenant }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers
      },
      ...(body === undefined ? {} : { body })
    })
    const { headers: received, status, text } = answer
    conforms({ method: operation.method, path, status, contentType: received.get("content-type"), text })
    assert.notInclude([500, 503], status)
    if (status === 201 && !received.has("idempotent-replayed")) {
      const made = [JSON.parse(text).data].flat()
      for (const { assetId, id } of made) learn(id ?? assetId, inTenant)
    }
    if (status === 204) for (const gone of ids.values()) forget(gone)
    return status
  }

  it("is answered with a documented code and body and never breaks the service", { timeout: 120_000 }, async () => {
    const seed = randomInt(2 ** 31)
    const sample = fc.sample(anyRequest(service.document), { seed, numRuns: requests })
    const statuses = new Map(operationsOf(service.document).map(({ name }) => [name, new Map<number, number>()]))
    // A bearer nobody gave out is refused everywhere, even where none is asked for; too seldom to be left to luck.
    const unwelcome = [...new Map(sample.map((request) => [request.operation.name, request])).values()].map(
      (request): AnyRequest => ({ ...request, caller: { ...request.caller, choice: "odd" } })
    )
    const queue = [...sample, ...unwelcome].entries()

    let hasFailed = false
    const worker = async () => {
      for (const [number, request] of queue) {
        if (hasFailed) return
        const status = await perform(request).catch((error: unknown) => {
          hasFailed = true
          return assert.fail(`seed ${seed}, request ${number}, ${JSON.stringify(request)}: ${error}`)
        })
        const seen = statuses.get(request.operation.name)
        seen?.set(status, (seen.get(status) ?? 0) + 1)
      }
    }
    await Promise.all(Array.from({ length: concurrency }, worker))

    const never = (wanted: (code: number) => boolean) =>
      [...statuses].flatMap(([name, seen]) => ([...seen.keys()].some(wanted) ? [] : [name]))
    assert.deepStrictEqual(
      never((code) => code >= 400),
      [],
      `seed ${seed}: never failed`
    )
    // Some need more luck than others, so a few may have had none.
    const neverThrough = never((code) => code < 300)
    assert.isBelow(neverThrough.length, statuses.size / 4, `seed ${seed}: never got through: ${neverThrough}`)
    const alarms = service.logs.filter((line) => /"logLevel":"(WARN|ERROR|FATAL)"/.test(line))
    assert.deepStrictEqual(alarms, [], `seed ${seed}`)
    assert.strictEqual((await service.call("GET", "/readyz")).status, 200)
    assert.include((await service.call("GET", "/metrics")).text, "\nhttp_requests_in_flight 1\n")
  })
})
