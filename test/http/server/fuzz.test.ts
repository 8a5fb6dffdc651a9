import { randomInt } from "node:crypto"
import { Agent } from "node:http"
import * as fc from "fast-check"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { addressOf, type Operation, operationsOf } from "../../support/assertions/operations.ts"
import { caseCount } from "../../support/caseCount.ts"
import { prefixOf } from "../../support/fixtures/minimalBodies.ts"
import { type AnyRequest, anyRequest } from "../../support/fixtures/requestArbitraries.ts"
import { makeTenantFixture } from "../../support/fixtures/tenantFixture.ts"
import { openPool } from "../../support/servers/database.ts"
import { sendRaw } from "../../support/servers/rawHttp.ts"
import { type Service, startService } from "../../support/servers/service.ts"

const requests = caseCount(1500, 10_000)
const concurrency = 16
/** Requests refer to the newest identifiers of each kind only. */
const maxRecent = 40
/** Tenants at the start, each with one of every resource. */
const tenants = 12

/** In the log beside the 503 of a report into whose period another request writes. On a busy host that takes long. */
const stillWritten = "Unavailable: a transaction still writes into the period of a report"

const agent = new Agent({ keepAlive: true, maxSockets: concurrency })

type Place = AnyRequest["id"]

const at = <A>(items: ReadonlyArray<A>, index: number) => items[index % Math.max(1, items.length)]

describe("A random request", () => {
  let service: Service
  let tokens: { readonly known: string; readonly foreign: string }
  beforeAll(async () => {
    service = await startService({ PUBLIC_URL: "https://billing.example.test" })
    for (let n = 0; n < tenants; n++) {
      const { ids, tenant } = await makeTenantFixture(service, "known")
      for (const id of ids.values()) remember(id, tenant)
    }
    // The service cannot decrypt the tokens of the fixture.
    const pool = openPool(service.database.url)
    await pool.query("delete from invoice_links")
    await pool.end()
    tokens = { known: await service.token("known"), foreign: await service.token("foreign") }
  })
  afterAll(() => {
    agent.destroy()
    return service.stop()
  })

  /** Identifiers of existing resources, newest last, each with its tenant. */
  const tenantOf = new Map<string, string>()
  /** The same identifiers by prefix. */
  const idsOf = new Map<string, Set<string>>()
  const remember = (id: string, tenant: string | undefined) => {
    const [prefix = ""] = id.split("_", 1)
    tenantOf.set(id, prefix === "tnt" ? id : (tenant ?? ""))
    idsOf.set(prefix, (idsOf.get(prefix) ?? new Set()).add(id))
  }
  const forget = (deleted: string) => {
    for (const [id, tenant] of tenantOf) {
      if (id !== deleted && tenant !== deleted) continue
      tenantOf.delete(id)
      idsOf.get(id.split("_", 1)[0] ?? "")?.delete(id)
    }
  }
  const recentIds = (prefix: string) => [...(idsOf.get(prefix) ?? [])].slice(-maxRecent)

  const idFor = ({ method, pathParameters }: Operation, name: string, { choice, index, odd }: Place) => {
    if (choice === "odd" || choice === "none") return odd
    const schema = pathParameters.find((parameter) => parameter.name === name)?.schema ?? {}
    const known = recentIds(prefixOf(schema) ?? "")
    if (method !== "DELETE") return at(known, index) ?? "unknown"
    // Deletes only where at least 10 remain for other operations, and only the newest, which nothing refers to yet.
    return (known.length < 10 ? undefined : at(known.slice(-3), index)) ?? "unknown"
  }

  const tenantFor = ({ choice, index, odd }: Place, tenant: string | undefined) => {
    if (choice === "none") return undefined
    if (choice === "odd") return odd
    return (choice === "known" ? tenant : undefined) ?? at(recentIds("tnt"), index) ?? "tnt_unknown"
  }

  const tokenFor = ({ choice, odd }: Place) => {
    if (choice === "none") return undefined
    return choice === "odd" ? `.${odd.replace(/[^\w.]/g, "")}` : tokens[choice]
  }

  /** Replaces each placeholder in a body with an existing identifier, and returns those identifiers. */
  const resolveReferences = (body: string | undefined, index: number) => {
    const references: Array<string> = []
    const text = body?.replace(/\b([a-z]+)_known\b/g, (word, prefix: string) => {
      const known = at(recentIds(prefix), index) ?? word
      references.push(known)
      return known
    })
    return { body: text, references }
  }

  const perform = async ({ body: written, caller, headers, id, operation, query, tenant }: AnyRequest) => {
    const ids = new Map(operation.pathParameters.map(({ name }) => [name, idFor(operation, name, id)]))
    const { body, references } = resolveReferences(written, id.index)
    const [ownTenant] = [...ids.values(), ...references].flatMap((each) => tenantOf.get(each) ?? [])
    const tenantId = tenantFor(tenant, ownTenant)
    const token = tokenFor(caller)
    const address = addressOf(operation, (name) => encodeURIComponent(ids.get(name) ?? ""))
    const path = query === "" ? address : `${address}?${query}`
    const response = await sendRaw(service.url, {
      agent,
      method: operation.method,
      path,
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(tenantId === undefined ? {} : { "tenant-id": tenantId }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers
      },
      ...(body === undefined ? {} : { body })
    })
    const { headers: received, status, text } = response
    service.assertConforms({ method: operation.method, path, status, contentType: received.get("content-type"), text })
    assert.notInclude(path.includes("/reports/") ? [500] : [500, 503], status)
    if (status === 201 && !received.has("idempotent-replayed")) {
      const created = [JSON.parse(text).data].flat()
      for (const { assetId, id } of created) remember(id ?? assetId, tenantId)
    }
    if (status === 204) for (const deleted of ids.values()) forget(deleted)
    return status
  }

  it("to any operation gets a documented status and body and never an internal error", {
    timeout: 240_000
  }, async () => {
    const seed = randomInt(2 ** 31)
    const sample = fc.sample(anyRequest(service.document), { seed, numRuns: requests })
    const statuses = new Map(operationsOf(service.document).map(({ name }) => [name, new Map<number, number>()]))
    // Every operation rejects an invalid token, also those without authentication; too rare in the sample.
    const unauthorized = [...new Map(sample.map((request) => [request.operation.name, request])).values()].map(
      (request): AnyRequest => ({ ...request, caller: { ...request.caller, choice: "odd" } })
    )
    const queue = [...sample, ...unauthorized].entries()

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

    const operationsWithout = (matches: (status: number) => boolean) =>
      [...statuses].flatMap(([name, seen]) => ([...seen.keys()].some(matches) ? [] : [name]))
    assert.deepStrictEqual(
      operationsWithout((status) => status >= 400),
      [],
      `seed ${seed}: operations without an error`
    )
    // Some operations succeed rarely, so a few may have no success.
    const withoutSuccess = operationsWithout((status) => status < 300)
    assert.isBelow(
      withoutSuccess.length,
      statuses.size / 4,
      `seed ${seed}: operations without success: ${withoutSuccess}`
    )
    const warnings = service.logs.filter(
      (line) => /"logLevel":"(WARN|ERROR|FATAL)"/.test(line) && !line.includes(stillWritten)
    )
    assert.deepStrictEqual(warnings, [], `seed ${seed}`)
    assert.strictEqual((await service.call("GET", "/readyz")).status, 200)
    assert.include((await service.call("GET", "/metrics")).text, "\nhttp_requests_in_flight 1\n")
  })
})
