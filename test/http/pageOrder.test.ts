import fc from "fast-check"
import { assert, beforeAll, describe, it } from "vitest"
import { type ResourceBody, resourceMaker } from "../support/fixtures/resources.ts"
import { useFixture } from "../support/fixtures/useFixture.ts"
import { startService } from "../support/servers/service.ts"

/** A project to create: its order, and whether it belongs to the contract of the filtered list. */
interface Row {
  readonly order: number | undefined
  readonly isFiltered: boolean
}
const row: fc.Arbitrary<Row> = fc.record({
  order: fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, fc.constantFrom(0, 1, 1, 2, 9007199254740991)),
  isFiltered: fc.boolean()
})

/** A page to read, and the changes before the next page. */
const step = fc.record({
  limit: fc.integer({ min: 1, max: 5 }),
  inserted: fc.array(row, { maxLength: 3 }),
  /** Indexes into the existing rows, modulo their number. */
  deleted: fc.array(fc.nat(100), { maxLength: 3 })
})
type Step = typeof step extends fc.Arbitrary<infer A> ? A : never

const compareRows = (a: ResourceBody, b: ResourceBody) => {
  const [first, second] = [a, b].map(({ order }) => (order === undefined ? Number.POSITIVE_INFINITY : Number(order)))
  if (first !== second) return Number(first) - Number(second)
  return a.id < b.id ? -1 : 1
}

const idsOf = (rows: Iterable<ResourceBody>) => [...rows].map(({ id }) => id)

describe("The pages of GET /projects", () => {
  const at = useFixture(startService)
  let token: string
  beforeAll(async () => {
    token = await at().token("owner")
  })

  /** A new tenant with two contracts, whose projects a test inserts and removes. */
  const createTenant = async () => {
    const service = at()
    const tenant = await service.newTenant(token)
    const { make } = resourceMaker(service, tenant, token)
    const { client, id: filtered } = await make("contracts")
    const other = (await make("contracts", { clientId: client })).id
    const present = new Map<string, ResourceBody>()
    return {
      tenant,
      filtered,
      present,
      insert: async (rows: ReadonlyArray<Row>) => {
        const created = await Promise.all(
          rows.map(({ isFiltered, order }) => make("projects", { contractId: isFiltered ? filtered : other, order }))
        )
        for (const project of created) present.set(project.id, project)
      },
      remove: async (indexes: ReadonlyArray<number>) => {
        const ids = new Set(indexes.flatMap((index) => [...present.keys()][index % Math.max(1, present.size)] ?? []))
        const remove = async (id: string) => {
          const { status } = await service.api("DELETE", `/projects/${id}`, { as: token, tenant })
          assert.strictEqual(status, 204)
          present.delete(id)
        }
        await Promise.all([...ids].map(remove))
      }
    }
  }

  /** Reads one page with the given limit; returns its rows and the address of the next page. */
  const readPage = async (address: string, limit: number, tenant: string) => {
    const url = new URL(address, at().url)
    url.searchParams.set("limit", String(limit))
    const { body, headers, status } = await at().call("GET", url.pathname + url.search, { as: token, tenant })
    assert.strictEqual(status, 200)
    const rows: ReadonlyArray<ResourceBody> = body.data
    assert.isAtMost(rows.length, limit)
    const next = /^<([^>]+)>; rel="next"$/.exec(headers.get("link") ?? "")?.[1]
    if (next !== undefined) assert.lengthOf(rows, limit)
    return { rows, next }
  }

  /** Reads the whole and the filtered list page by page, with the same changes between the pages of both. */
  const readWhileChanging = async (initial: ReadonlyArray<Row>, steps: ReadonlyArray<Step>) => {
    const { filtered, insert, present, remove, tenant } = await createTenant()
    await insert(initial)
    const everPresent = new Map(present)
    const lists = [
      { next: "/api/v1/projects", matches: (_: ResourceBody) => true },
      {
        next: `/api/v1/projects?contractId=${filtered}`,
        matches: ({ contract }: ResourceBody) => contract === filtered
      }
    ].map(({ matches, next }) => ({
      matches,
      next: next as string | undefined, // none after the last page
      seen: [] as ResourceBody[],
      unchanged: new Map(present)
    }))
    for (let n = 0; lists.some(({ next }) => next !== undefined); n++) {
      const { deleted, inserted, limit } = steps[n] ?? { deleted: [], inserted: [], limit: 5 }
      const unfinished = lists.filter(({ next }) => next !== undefined)
      await Promise.all(
        unfinished.map(async (list) => {
          const { next, rows } = await readPage(list.next ?? "", limit, tenant)
          list.seen.push(...rows)
          list.next = next
        })
      )
      await insert(inserted)
      for (const [id, project] of present) everPresent.set(id, project)
      await remove(deleted)
      for (const { unchanged } of unfinished) {
        for (const id of unchanged.keys()) if (!present.has(id)) unchanged.delete(id)
      }
      assert.isBelow(n, 100, "the pages do not end")
    }
    for (const { matches, seen, unchanged } of lists) {
      assert.lengthOf(new Set(idsOf(seen)), seen.length, "a row appears twice")
      for (const project of seen) assert.deepStrictEqual(project, everPresent.get(project.id))
      assert.isTrue(seen.every(matches))
      assert.includeMembers(idsOf(seen), idsOf([...unchanged.values()].filter(matches)), "an unchanged row is missing")
      assert.deepStrictEqual(idsOf(seen), idsOf([...seen].sort(compareRows)))
    }
  }

  it("contain each row once and in order, with and without a filter, while rows are inserted and deleted", async () => {
    const initial = fc.array(row, { minLength: 3, maxLength: 14 })
    const steps = fc.array(step, { minLength: 1, maxLength: 6 })
    await fc.assert(fc.asyncProperty(initial, steps, readWhileChanging), { numRuns: 20, endOnFailure: true })
  })

  it("continue after a deleted row", async () => {
    const { insert, present, remove, tenant } = await createTenant()
    await insert([1, 1, 2, undefined, undefined].map((order) => ({ order, isFiltered: true })))
    const sorted = idsOf([...present.values()].sort(compareRows))
    let address: string | undefined = "/api/v1/projects"
    for (const id of sorted) {
      const page: Awaited<ReturnType<typeof readPage>> = await readPage(address ?? assert.fail("no next"), 1, tenant)
      assert.deepStrictEqual(idsOf(page.rows), [id])
      await remove([[...present.keys()].indexOf(id)])
      address = page.next
    }
    assert.isUndefined(address)
  })
})
