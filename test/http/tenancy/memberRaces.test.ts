import { setTimeout } from "node:timers/promises"
import { assert, describe, it } from "vitest"
import { lockRow } from "../../support/fixtures/rowLock.ts"
import { lockTenant } from "../../support/fixtures/tenantLock.ts"
import { useFixture } from "../../support/fixtures/useFixture.ts"
import type { ServiceResponse } from "../../support/servers/service.ts"
import { startServiceWithPool } from "../../support/servers/serviceWithPool.ts"

const forbidden = `{"error":"Forbidden","message":"Forbidden"}`

describe("members who act at the same moment", () => {
  const at = useFixture(startServiceWithPool)

  const letIn = async (tenant: string, subject: string, role: string, as: string) => {
    const answer = await at().service.api("POST", "/members", { as, tenant, body: { subject, role } })
    assert.strictEqual(answer.status, 201)
    return String(answer.body.data.id)
  }

  /** A tenant whose owners are called by number, with their member ids. */
  const ownedBy = async (count: number) => {
    const tenant = await at().service.newTenant("0")
    const { body } = await at().service.api("GET", "/members", { as: "0", tenant })
    const owners = [String(body.data[0].id)]
    for (let n = 1; n < count; n++) owners.push(await letIn(tenant, String(n), "OWNER", "0"))
    return { tenant, owners }
  }

  /** Lets all requests in before any is decided, then lets them go on once `fact` is one. */
  const collide = async (
    tenant: string,
    requests: ReadonlyArray<() => Promise<ServiceResponse>>,
    fact?: readonly [statement: string, ...values: ReadonlyArray<string>]
  ) => {
    const held = await lockTenant(at().pool, tenant)
    const answers = Promise.all(requests.map((send) => send()))
    try {
      await held.until(requests.length)
      if (fact !== undefined) await held.meanwhile(...fact)
    } finally {
      await held.release()
    }
    return answers
  }

  const ownersOf = async (tenant: string) => {
    const { rows } = await at().pool.query("select 1 from members where tenant_id = $1 and role = 'OWNER'", [tenant])
    return rows.length
  }

  const setRole = (tenant: string, as: string, id: string, role: string) => () =>
    at().service.api("PATCH", `/members/${id}`, { as, tenant, body: { role } })
  const remove = (tenant: string, as: string, id: string) => () =>
    at().service.api("DELETE", `/members/${id}`, { as, tenant })

  /** What an owner can do to be one less: to themselves or to the other. */
  const moves: Readonly<
    Record<string, (tenant: string, as: string, own: string, other: string) => () => Promise<ServiceResponse>>
  > = {
    "steps down": (tenant, as, own) => setRole(tenant, as, own, "VIEWER"),
    leaves: (tenant, as, own) => remove(tenant, as, own),
    "demotes the other": (tenant, as, _, other) => setRole(tenant, as, other, "ADMIN"),
    "removes the other": (tenant, as, _, other) => remove(tenant, as, other)
  }
  for (const [first, one] of Object.entries(moves)) {
    for (const [second, another] of Object.entries(moves)) {
      it(`always leave an OWNER when one ${first} as another ${second}`, async () => {
        for (const _ of [1, 2]) {
          const { owners, tenant } = await ownedBy(2)
          const [a = "", b = ""] = owners
          const answers = await collide(tenant, [one(tenant, "0", a, b), another(tenant, "1", b, a)])
          assert.isAtLeast(await ownersOf(tenant), 1)
          for (const { status } of answers) assert.include([200, 204, 400, 403, 404], status)
          assert.isTrue(answers.some(({ status }) => status < 300))
        }
      })
    }
  }

  it("leave exactly one OWNER when all of eight step down", async () => {
    const { owners, tenant } = await ownedBy(8)
    const answers = await collide(
      tenant,
      owners.map((id, n) => setRole(tenant, String(n), id, "VIEWER"))
    )
    assert.deepStrictEqual(answers.map(({ status }) => status).sort(), [...Array(7).fill(200), 400])
    const refused = answers.find(({ status }) => status === 400)
    assert.strictEqual(refused?.body.details[0].constraint, "state")
    assert.strictEqual(await ownersOf(tenant), 1)
  })

  const acts: Readonly<Record<string, (tenant: string, target: string) => Promise<ServiceResponse>>> = {
    "let someone in": (tenant) =>
      at().service.api("POST", "/members", { as: "ada", tenant, body: { subject: "new", role: "VIEWER" } }),
    "change a role": (tenant, target) => setRole(tenant, "ada", target, "MEMBER")(),
    "remove someone": (tenant, target) => remove(tenant, "ada", target)()
  }
  const facts: Readonly<Record<string, string>> = {
    demoted: "update members set role = 'VIEWER', sequence = sequence + 1 where id = $1",
    removed: "delete from members where id = $1"
  }
  for (const [act, send] of Object.entries(acts)) {
    for (const [fate, statement] of Object.entries(facts)) {
      it(`cannot ${act} as an ADMIN who is ${fate} meanwhile`, async () => {
        const tenant = await at().service.newTenant("0")
        const admin = await letIn(tenant, "ada", "ADMIN", "0")
        const target = await letIn(tenant, "vera", "VIEWER", "0")
        const [answer] = await collide(tenant, [() => send(tenant, target)], [statement, admin])
        assert.deepInclude(answer, { status: 403, text: forbidden })
        const { body } = await at().service.api("GET", "/members", { as: "0", tenant })
        const others = body.data.filter(({ subject }: { subject: string }) => subject !== "ada")
        assert.deepStrictEqual(
          others.map(({ role, subject }: Record<string, string>) => `${subject} ${role}`),
          ["0 OWNER", "vera VIEWER"]
        )
      })
    }
  }

  it("cannot make an OWNER when they are no longer one themselves", async () => {
    const { owners, tenant } = await ownedBy(2)
    const target = await letIn(tenant, "vera", "VIEWER", "0")
    const demotion = "update members set role = 'ADMIN', sequence = sequence + 1 where id = $1"
    const [answer] = await collide(tenant, [setRole(tenant, "1", target, "OWNER")], [demotion, owners[1] ?? ""])
    assert.deepInclude(answer, { status: 403, text: forbidden })
    assert.strictEqual(await ownersOf(tenant), 1)
  })

  it("are outside with the first request after they were removed, however many they sent at once", async () => {
    const tenant = await at().service.newTenant("0")
    const vera = await letIn(tenant, "vera", "VIEWER", "0")
    let isRemoved = false
    const read = async () => {
      const statuses: Array<{ readonly isAfter: boolean; readonly status: number }> = []
      const until = () => statuses.filter(({ isAfter }) => isAfter).length >= 3
      while (!until()) {
        const isAfter = isRemoved
        const { status } = await at().service.api("GET", "/clients", { as: "vera", tenant })
        statuses.push({ isAfter, status })
      }
      return statuses
    }
    const crowd = Promise.all(Array.from({ length: 20 }, read))
    assert.strictEqual((await remove(tenant, "0", vera)()).status, 204)
    isRemoved = true
    const answers = (await crowd).flat()
    assert.deepStrictEqual([...new Set(answers.filter(({ isAfter }) => isAfter).map(({ status }) => status))], [403])
    assert.isTrue(answers.some(({ status }) => status === 200))
  })

  it("are looked up once for a whole crowd of requests that waits", async () => {
    const tenant = await at().service.newTenant("0")
    const read = () => at().service.api("GET", "/clients", { as: "0", tenant })
    await read()
    const held = await lockRow(at().pool, "lock table members in access exclusive mode")
    const first = read()
    let answers: Promise<ReadonlyArray<ServiceResponse>>
    try {
      await held.until(1)
      answers = Promise.all(Array.from({ length: 20 }, read))
      // Each on its own would take a connection and wait for the table, as the first one does.
      await setTimeout(500)
      await held.until(1)
    } finally {
      await held.release()
    }
    assert.strictEqual((await first).status, 200)
    assert.deepStrictEqual([...new Set((await answers).map(({ status }) => status))], [200])
  })

  it("change nothing in a tenant that is deleted meanwhile", async () => {
    const tenant = await at().service.newTenant("0")
    const request = () =>
      at().service.api("POST", "/members", { as: "0", tenant, body: { subject: "late", role: "VIEWER" } })
    const [answer] = await collide(tenant, [request], ["update tenants set deleted_at = now() where id = $1", tenant])
    assert.deepInclude(answer, { status: 403, text: forbidden })
  })
})
