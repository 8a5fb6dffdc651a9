import { subscribe, unsubscribe } from "node:diagnostics_channel"
import { assert, describe, it, onTestFinished, vi } from "vitest"
import { lockRow } from "../../support/fixtures/rowLock.ts"
import { lockTenant } from "../../support/fixtures/tenantLock.ts"
import { useFixture } from "../../support/fixtures/useFixture.ts"
import type { ServiceResponse } from "../../support/servers/service.ts"
import { startServiceWithPool } from "../../support/servers/serviceWithPool.ts"
import { eventually } from "../../support/servers/worker.ts"

/** A path that reads the database without a membership. */
const unknownAsset = `/api/v1/assets/ast_${"0".repeat(26)}`
const forbidden = `{"error":"Forbidden","message":"Forbidden"}`

describe("Concurrent member changes", () => {
  const at = useFixture(() => startServiceWithPool({}))

  const addMember = async (tenant: string, subject: string, role: string, as: string) => {
    const response = await at().service.api("POST", "/members", { as, tenant, body: { subject, role } })
    assert.strictEqual(response.status, 201)
    return String(response.body.data.id)
  }

  /** A tenant with owners "0", "1" and so on, and their member ids. */
  const makeTenant = async (count: number) => {
    const tenant = await at().service.newTenant("0")
    const { body } = await at().service.api("GET", "/members", { as: "0", tenant })
    const owners = [String(body.data[0].id)]
    for (let n = 1; n < count; n++) owners.push(await addMember(tenant, String(n), "OWNER", "0"))
    return { tenant, owners }
  }

  /** Blocks all requests on the tenant's row, runs `change`, then lets them continue. */
  const sendConcurrently = async (
    tenant: string,
    requests: ReadonlyArray<() => Promise<ServiceResponse>>,
    change?: readonly [statement: string, ...values: ReadonlyArray<string>]
  ) => {
    const lock = await lockTenant(at().pool, tenant)
    const responses = Promise.all(requests.map((send) => send()))
    try {
      await lock.untilWaiting(requests.length)
      if (change !== undefined) await lock.runInTransaction(...change)
    } finally {
      await lock.release()
    }
    return responses
  }

  const countOwners = async (tenant: string) => {
    const { rows } = await at().pool.query("select 1 from members where tenant_id = $1 and role = 'OWNER'", [tenant])
    return rows.length
  }

  const setRole = (tenant: string, as: string, id: string, role: string) => () =>
    at().service.api("PATCH", `/members/${id}`, { as, tenant, body: { role } })
  const remove = (tenant: string, as: string, id: string) => () =>
    at().service.api("DELETE", `/members/${id}`, { as, tenant })

  /** Requests that remove an owner. */
  const ownerLosses: Readonly<
    Record<string, (tenant: string, as: string, own: string, other: string) => () => Promise<ServiceResponse>>
  > = {
    "steps down": (tenant, as, own) => setRole(tenant, as, own, "VIEWER"),
    leaves: (tenant, as, own) => remove(tenant, as, own),
    "demotes the other": (tenant, as, _, other) => setRole(tenant, as, other, "ADMIN"),
    "removes the other": (tenant, as, _, other) => remove(tenant, as, other)
  }
  for (const [first, one] of Object.entries(ownerLosses)) {
    for (const [second, another] of Object.entries(ownerLosses)) {
      it(`leave an OWNER when one ${first} while another ${second}`, async () => {
        const { owners, tenant } = await makeTenant(2)
        const [a = "", b = ""] = owners
        const responses = await sendConcurrently(tenant, [one(tenant, "0", a, b), another(tenant, "1", b, a)])
        assert.isAtLeast(await countOwners(tenant), 1)
        for (const { status } of responses) assert.include([200, 204, 400, 403, 404], status)
        assert.isTrue(responses.some(({ status }) => status < 300))
      })
    }
  }

  it("leave exactly one OWNER when all eight step down", async () => {
    const { owners, tenant } = await makeTenant(8)
    const responses = await sendConcurrently(
      tenant,
      owners.map((id, n) => setRole(tenant, String(n), id, "VIEWER"))
    )
    assert.deepStrictEqual(responses.map(({ status }) => status).sort(), [...Array(7).fill(200), 400])
    const rejected = responses.find(({ status }) => status === 400)
    assert.strictEqual(rejected?.body.details[0].constraint, "state")
    assert.strictEqual(await countOwners(tenant), 1)
  })

  const actions: Readonly<Record<string, (tenant: string, target: string) => Promise<ServiceResponse>>> = {
    "add a member": (tenant) =>
      at().service.api("POST", "/members", { as: "ada", tenant, body: { subject: "new", role: "VIEWER" } }),
    "change a role": (tenant, target) => setRole(tenant, "ada", target, "MEMBER")(),
    "remove a member": (tenant, target) => remove(tenant, "ada", target)()
  }
  const changes: Readonly<Record<string, string>> = {
    demoted: "update members set role = 'VIEWER', sequence = sequence + 1 where id = $1",
    removed: "delete from members where id = $1"
  }
  for (const [action, send] of Object.entries(actions)) {
    for (const [outcome, statement] of Object.entries(changes)) {
      it(`cannot ${action} as an ADMIN who is ${outcome} meanwhile`, async () => {
        const tenant = await at().service.newTenant("0")
        const admin = await addMember(tenant, "ada", "ADMIN", "0")
        const target = await addMember(tenant, "vera", "VIEWER", "0")
        const [response] = await sendConcurrently(tenant, [() => send(tenant, target)], [statement, admin])
        assert.deepInclude(response, { status: 403, text: forbidden })
        const { body } = await at().service.api("GET", "/members", { as: "0", tenant })
        const others = body.data.filter(({ subject }: { subject: string }) => subject !== "ada")
        assert.deepStrictEqual(
          others.map(({ role, subject }: Record<string, string>) => `${subject} ${role}`),
          ["0 OWNER", "vera VIEWER"]
        )
      })
    }
  }

  it("cannot add an OWNER after the caller was demoted meanwhile", async () => {
    const { owners, tenant } = await makeTenant(2)
    const target = await addMember(tenant, "vera", "VIEWER", "0")
    const demotion = "update members set role = 'ADMIN', sequence = sequence + 1 where id = $1"
    const [response] = await sendConcurrently(
      tenant,
      [setRole(tenant, "1", target, "OWNER")],
      [demotion, owners[1] ?? ""]
    )
    assert.deepInclude(response, { status: 403, text: forbidden })
    assert.strictEqual(await countOwners(tenant), 1)
  })

  it("revoke access with the first request after a removal", async () => {
    const tenant = await at().service.newTenant("0")
    const vera = await addMember(tenant, "vera", "VIEWER", "0")
    let [hasRead, isRemoved] = [false, false]
    const read = async () => {
      const statuses: Array<{ readonly isAfter: boolean; readonly status: number }> = []
      const isDone = () => statuses.filter(({ isAfter }) => isAfter).length >= 3
      while (!isDone()) {
        const isAfter = isRemoved
        const { status } = await at().service.api("GET", "/clients", { as: "vera", tenant })
        hasRead ||= status === 200
        statuses.push({ isAfter, status })
      }
      return statuses
    }
    const readers = Promise.all(Array.from({ length: 20 }, read))
    await vi.waitUntil(() => hasRead)
    assert.strictEqual((await remove(tenant, "0", vera)()).status, 204)
    isRemoved = true
    const responses = (await readers).flat()
    assert.deepStrictEqual([...new Set(responses.filter(({ isAfter }) => isAfter).map(({ status }) => status))], [403])
  })

  it("share one membership lookup between waiting requests", async () => {
    const tenant = await at().service.newTenant("0")
    // An operation whose members are looked up, and that does not read the table itself.
    const read = () => at().service.api("GET", `/tenants/${tenant}`, { as: "0" })
    await read()
    let arrived = 0
    const count = () => void arrived++
    subscribe("http.server.request.start", count)
    onTestFinished(() => void unsubscribe("http.server.request.start", count))
    const lock = await lockRow(at().pool, "lock table members in access exclusive mode")
    const first = read()
    let responses: Promise<ReadonlyArray<ServiceResponse>>
    try {
      await lock.untilWaiting(1)
      responses = Promise.all(Array.from({ length: 20 }, read))
      await eventually(() => arrived === 21, "all requests have arrived")
      // Their own lookups would reach the database before these requests, and wait for the table like the first one.
      for (let n = 0; n < 5; n++) await at().service.call("GET", unknownAsset)
      await lock.untilWaiting(1)
    } finally {
      await lock.release()
    }
    assert.strictEqual((await first).status, 200)
    assert.deepStrictEqual([...new Set((await responses).map(({ status }) => status))], [200])
  })

  it("are rejected in a tenant that is deleted meanwhile", async () => {
    const tenant = await at().service.newTenant("0")
    const request = () =>
      at().service.api("POST", "/members", { as: "0", tenant, body: { subject: "late", role: "VIEWER" } })
    const [response] = await sendConcurrently(
      tenant,
      [request],
      ["update tenants set deleted_at = now() where id = $1", tenant]
    )
    assert.deepInclude(response, { status: 403, text: forbidden })
  })
})
