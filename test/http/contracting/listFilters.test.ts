import { assert, beforeAll, describe, it } from "vitest"
import { insertClients } from "../../support/fixtures/clientRows.ts"
import { readPages } from "../../support/fixtures/pages.ts"
import { type ResourceBody, resourceMaker } from "../../support/fixtures/resources.ts"
import { useFixture } from "../../support/fixtures/useFixture.ts"
import { startServiceWithPool } from "../../support/servers/serviceWithPool.ts"

const names = ["beta", "Alpha", "alpha", "Gamma 50%", "Épsilon", "delta", "ALPHABET"]

const lower = ({ name }: ResourceBody) => String(name).toLowerCase()

/** By name in lower case, as bytes, then by age. */
const byName = (a: ResourceBody, b: ResourceBody) => {
  const order = Buffer.compare(Buffer.from(lower(a)), Buffer.from(lower(b)))
  return order === 0 ? (a.id < b.id ? -1 : 1) : order
}

describe("Searched and sorted lists", () => {
  const fixture = useFixture(startServiceWithPool)
  let tenant: string
  let made: Readonly<Record<"clients" | "contracts" | "projects", ReadonlyArray<ResourceBody>>>

  const list = async (path: string) =>
    (await readPages(fixture().service, path, { as: "owner", tenant })).flat().map(({ id }) => id)

  beforeAll(async () => {
    const { service } = fixture()
    tenant = await service.newTenant()
    const { make } = resourceMaker(service, tenant)
    const clients: Array<ResourceBody> = []
    const contracts: Array<ResourceBody> = []
    const projects: Array<ResourceBody> = []
    for (const [index, name] of names.entries()) {
      const client = await make("clients", { name })
      const contract = await make("contracts", {
        name,
        clientId: client.id,
        status: index % 2 === 0 ? "ACTIVE" : "DRAFT"
      })
      clients.push(client)
      contracts.push(contract)
      projects.push(await make("projects", { name, contractId: contract.id }))
    }
    made = { clients, contracts, projects }
    // Another tenant with the same names.
    const other = resourceMaker(service, await service.newTenant())
    for (const name of names) await other.make("projects", { name })
  })

  for (const kind of ["clients", "contracts", "projects"] as const) {
    const pageSizes = kind === "clients" ? [""] : ["&limit=1", "&limit=3", ""]

    it(`of ${kind} find a part of a name, in upper or lower case`, async () => {
      const idsWith = (part: string) => made[kind].filter((one) => lower(one).includes(part)).map(({ id }) => id)
      for (const limit of pageSizes) {
        assert.deepStrictEqual(await list(`/${kind}?q=aLPHa${limit}`), idsWith("alpha"))
        assert.lengthOf(idsWith("alpha"), 3)
        assert.deepStrictEqual(await list(`/${kind}?q=${encodeURIComponent("0%")}${limit}`), idsWith("0%"))
        assert.deepStrictEqual(await list(`/${kind}?q=${encodeURIComponent("éps")}${limit}`), idsWith("éps"))
        assert.deepStrictEqual(await list(`/${kind}?q=omega${limit}`), [])
        assert.deepStrictEqual(await list(`/${kind}?q=alpha?${limit}`), [])
      }
    })

    it(`of ${kind} are sorted by name and by age, in both directions`, async () => {
      const sorted = [...made[kind]].sort(byName).map(({ id }) => id)
      const aged = made[kind].map(({ id }) => id)
      for (const limit of pageSizes) {
        assert.deepStrictEqual(await list(`/${kind}?sort=name${limit}`), sorted)
        assert.deepStrictEqual(await list(`/${kind}?sort=-name${limit}`), sorted.toReversed())
        assert.deepStrictEqual(await list(`/${kind}?sort=createdAt${limit}`), aged)
        assert.deepStrictEqual(await list(`/${kind}?sort=-createdAt${limit}`), aged.toReversed())
      }
    })
  }

  it("of contracts are filtered by status, beside the others", async () => {
    const ids = made.contracts.filter(({ status }) => status === "ACTIVE").map(({ id }) => id)
    assert.deepStrictEqual(await list("/contracts?status=ACTIVE&limit=2"), ids)
    const [first] = made.contracts
    assert.deepStrictEqual(await list(`/contracts?status=ACTIVE&clientId=${first?.["client"]}&q=beta&sort=name`), [
      first?.id
    ])
    assert.deepStrictEqual(await list(`/contracts?status=ENDED`), [])
  })

  it("of projects are filtered by client", async () => {
    const [first] = made.projects
    assert.deepStrictEqual(await list(`/projects?clientId=${made.clients[0]?.id}`), [first?.id])
  })

  it("of addresses are those of the tenant itself, or those of clients", async () => {
    const { make } = resourceMaker(fixture().service, tenant)
    const own = await make("addresses", { clientId: undefined })
    const theirs = await make("addresses", { clientId: made.clients[0]?.id })
    assert.deepStrictEqual(await list("/addresses?ofTenant=true"), [own.id])
    assert.deepStrictEqual(await list("/addresses?ofTenant=false"), [theirs.id])
    assert.deepStrictEqual(await list("/addresses"), [own.id, theirs.id])
    assert.deepStrictEqual(await list(`/addresses?ofTenant=true&clientId=${made.clients[0]?.id}`), [])
  })

  it("of clients that are longer than a page are complete", async () => {
    const { pool, service } = fixture()
    const tenant = await service.newTenant()
    await insertClients(pool, tenant, 2500)
    for (const sort of ["name", "-name", "createdAt", "-createdAt"]) {
      const { body } = await service.api("GET", `/clients?sort=${sort}`, { as: "owner", tenant })
      const rows: ReadonlyArray<ResourceBody> = body.data
      assert.lengthOf(new Set(rows.map(({ id }) => id)), 2500, sort)
      const sorted = [...rows].sort(sort.endsWith("name") ? byName : (a, b) => (a.id < b.id ? -1 : 1))
      assert.deepStrictEqual(rows, sort.startsWith("-") ? sorted.toReversed() : sorted, sort)
    }
  })
})
