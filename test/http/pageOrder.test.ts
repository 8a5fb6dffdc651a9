import fc from "fast-check"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { type ResourceBody, resourceMaker } from "../support/fixtures/resources.ts"
import { type Service, startService } from "../support/servers/service.ts"

/** A row to be made: where it sorts, and whether it belongs to the contract the filtered list is of. */
interface Row {
  readonly order: number | undefined
  readonly chosen: boolean
}
const row: fc.Arbitrary<Row> = fc.record({
  order: fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, fc.constantFrom(0, 1, 1, 2, 9007199254740991)),
  chosen: fc.boolean()
})

/** A page to be read, and what happens before the next one is. */
const step = fc.record({
  limit: fc.integer({ min: 1, max: 5 }),
  inserted: fc.array(row, { maxLength: 3 }),
  /** Which of the rows there are, counted around. */
  deleted: fc.array(fc.nat(100), { maxLength: 3 })
})
type Step = typeof step extends fc.Arbitrary<infer A> ? A : never

const inOrder = (a: ResourceBody, b: ResourceBody) => {
  const [first, second] = [a, b].map(({ order }) => (order === undefined ? Number.POSITIVE_INFINITY : Number(order)))
  if (first !== second) return Number(first) - Number(second)
  return a.id < b.id ? -1 : 1
}

const ids = (rows: Iterable<ResourceBody>) => [...rows].map(({ id }) => id)

describe("pages", () => {
  let service: Service
  beforeAll(async () => {
    service = await startService()
  })
  afterAll(() => service.stop())

  /** A tenant of its own with projects under two contracts. */
  const stage = async () => {
    const tenant = await service.newTenant()
    const { make } = resourceMaker(service, tenant)
    const { client, id: chosen } = await make("contracts")
    const other = (await make("contracts", { clientId: client })).id
    const present = new Map<string, ResourceBody>()
    return {
      tenant,
      chosen,
      present,
      insert: async (rows: ReadonlyArray<Row>) => {
        for (const { chosen: isChosen, order } of rows) {
          const made = await make("projects", { contractId: isChosen ? chosen : other, order })
          present.set(made.id, made)
        }
      },
      remove: async (places: ReadonlyArray<number>) => {
        for (const place of places) {
          const id = [...present.keys()][place % Math.max(1, present.size)]
          if (id === undefined) continue
          const { status } = await service.api("DELETE", `/projects/${id}`, { as: "owner", tenant })
          assert.strictEqual(status, 204)
          present.delete(id)
        }
      }
    }
  }

  /** Reads one page; tells its rows and where the next one is, with its own limit put in. */
  const readPage = async (address: string, limit: number, tenant: string) => {
    const url = new URL(address, service.url)
    url.searchParams.set("limit", String(limit))
    const { body, headers, status } = await service.call("GET", url.pathname + url.search, { as: "owner", tenant })
    assert.strictEqual(status, 200)
    const rows: ReadonlyArray<ResourceBody> = body.data
    assert.isAtMost(rows.length, limit)
    const next = /^<([^>]+)>; rel="next"$/.exec(headers.get("link") ?? "")?.[1]
    if (next !== undefined) assert.lengthOf(rows, limit)
    return { rows, next }
  }

  const walk = async (filter: boolean, before: ReadonlyArray<Row>, steps: ReadonlyArray<Step>) => {
    const { chosen, insert, present, remove, tenant } = await stage()
    await insert(before)
    const everThere = new Map(present)
    const throughout = new Map(present)
    const seen: Array<ResourceBody> = []
    let address: string | undefined = `/api/v1/projects${filter ? `?contractId=${chosen}` : ""}`
    for (let n = 0; address !== undefined; n++) {
      const { deleted, inserted, limit } = steps[n] ?? { deleted: [], inserted: [], limit: 5 }
      const page: Awaited<ReturnType<typeof readPage>> = await readPage(address, limit, tenant)
      seen.push(...page.rows)
      address = page.next
      await insert(inserted)
      for (const [id, made] of present) everThere.set(id, made)
      await remove(deleted)
      for (const id of throughout.keys()) if (!present.has(id)) throughout.delete(id)
      assert.isBelow(n, 100, "the pages do not end")
    }
    const belongs = ({ contract }: ResourceBody) => !filter || contract === chosen
    assert.lengthOf(new Set(ids(seen)), seen.length, "no row comes twice")
    for (const one of seen) assert.deepStrictEqual(one, everThere.get(one.id))
    assert.isTrue(seen.every(belongs))
    assert.includeMembers(ids(seen), ids([...throughout.values()].filter(belongs)), "no row that stays is missed")
    assert.deepStrictEqual(ids(seen), ids([...seen].sort(inOrder)))
  }

  for (const [what, filter] of [
    ["a whole list", false],
    ["what belongs to one parent", true]
  ] as const) {
    it(`of ${what} show each row once and in order, whatever comes and goes between them`, async () => {
      const before = fc.array(row, { minLength: 3, maxLength: 14 })
      const steps = fc.array(step, { minLength: 1, maxLength: 6 })
      await fc.assert(
        fc.asyncProperty(before, steps, (rows, way) => walk(filter, rows, way)),
        { numRuns: 20, endOnFailure: true }
      )
    })
  }

  it("go on from a row that is no longer there", async () => {
    const { insert, present, remove, tenant } = await stage()
    await insert([1, 1, 2, undefined, undefined].map((order) => ({ order, chosen: true })))
    const sorted = ids(present.values())
    let address: string | undefined = "/api/v1/projects"
    for (const id of sorted) {
      const page: Awaited<ReturnType<typeof readPage>> = await readPage(address ?? assert.fail("no next"), 1, tenant)
      assert.deepStrictEqual(ids(page.rows), [id])
      await remove([0])
      address = page.next
    }
    assert.isUndefined(address)
  })
})
