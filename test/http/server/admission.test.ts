import { request } from "node:http"
import { afterAll, afterEach, assert, beforeAll, describe, it, vi } from "vitest"
import { assertTooManyRequests, assertUnavailable } from "../../support/assertions/failures.ts"
import { parseMetrics } from "../../support/assertions/metrics.ts"
import { type Gate, makeGate } from "../../support/fixtures/tableGate.ts"
import { openPool } from "../../support/servers/database.ts"
import { type Service, type ServiceResponse, startService } from "../../support/servers/service.ts"

interface Target {
  readonly caller: string
  readonly tenant: string
  readonly client: string
}

describe("admission with sixteen requests let in, twelve of one key of which three write, and two of one key waiting", () => {
  const bounds = { DATABASE_POOL: "4", MAX_QUEUED_REQUESTS_PER_CALLER: "2", MAX_QUEUED_REQUESTS: "3" }
  const [letIn, atWork, waiting] = [12, 3, 2]
  const room = letIn + waiting
  let service: Service
  let pool: ReturnType<typeof openPool>
  let gate: Gate
  beforeAll(async () => {
    service = await startService(bounds)
    pool = openPool(service.database.url)
    gate = await makeGate(pool, "clients")
  })
  afterEach(() => gate.open())
  afterAll(async () => {
    await pool.end()
    await service.stop()
  })

  const create = ({ caller, tenant }: Omit<Target, "client">) =>
    service.api("POST", "/clients", { as: caller, tenant, body: { name: "Northwind" } })
  const newTarget = async (caller: string, tenant?: string): Promise<Target> => {
    const own = tenant ?? (await service.newTenant(caller))
    const { body } = await create({ caller, tenant: own })
    return { caller, tenant: own, client: body.data.id }
  }
  const rename = ({ caller, client, tenant }: Target) =>
    service.api("PATCH", `/clients/${client}`, { as: caller, tenant, body: { name: "Renamed" } })
  const read = ({ caller, client, tenant }: Target) => service.api("GET", `/clients/${client}`, { as: caller, tenant })
  const queueLength = async (queue: string) =>
    parseMetrics((await service.call("GET", "/metrics")).text).find(
      ({ labels, name }) => name === "http_requests_queued" && labels["queue"] === queue
    )?.value
  const untilQueued = (queue: string, count: number) =>
    vi.waitUntil(async () => (await queueLength(queue)) === count, { timeout: 10_000, interval: 10 })
  /** As many targets as given, the same ones over and over. */
  const repeated = (targets: ReadonlyArray<Target>, count: number) =>
    Array.from({ length: Math.ceil(count / targets.length) }, () => targets)
      .flat()
      .slice(0, count)

  /** Renames clients behind a closed gate until each request is at work, waits or is refused; gives what opens it. */
  const crowd = async (targets: ReadonlyArray<Target>) => {
    await gate.close()
    let refused = 0
    const answers = targets.map((target) =>
      rename(target).then((answer) => {
        refused++
        return answer
      })
    )
    const beyond = targets.length - room
    await gate.until(atWork)
    await untilQueued("writes", letIn - atWork)
    await untilQueued("database", waiting)
    await vi.waitUntil(() => refused === beyond, { timeout: 10_000, interval: 10 })
    return async () => {
      await gate.open()
      return Promise.all(answers)
    }
  }

  const refusedOf = (answers: ReadonlyArray<ServiceResponse>) => answers.filter(({ status }) => status !== 200)

  it("answers 429 to a caller whose own queue is full, serves another meanwhile, and then everything accepted", async () => {
    const target = await newTarget("greedy")
    const victim = await newTarget("victim")
    const finish = await crowd(repeated([target], room + 5))
    assert.strictEqual((await read(victim)).status, 200)
    assert.strictEqual((await create(victim)).status, 201)
    const answers = await finish()
    assert.lengthOf(refusedOf(answers), 5)
    for (const refused of refusedOf(answers)) assertTooManyRequests(refused)
  })

  it("counts the reads of a caller as well", async () => {
    const target = await newTarget("reader")
    const finish = await crowd(repeated([target], room))
    assertTooManyRequests(await read(target))
    assert.isEmpty(refusedOf(await finish()))
    assert.strictEqual((await read(target)).status, 200)
  })

  it("counts all tenants of one caller together", async () => {
    const targets: Array<Target> = []
    while (targets.length < 8) targets.push(await newTarget("landlord"))
    const victim = await newTarget("tenant of another")
    const finish = await crowd(repeated(targets, room + 3))
    assert.strictEqual((await create(victim)).status, 201)
    const answers = await finish()
    assert.lengthOf(refusedOf(answers), 3)
    for (const refused of refusedOf(answers)) assertTooManyRequests(refused)
  })

  it("counts all callers of one tenant together", async () => {
    const first = await newTarget("first")
    const victim = await newTarget("outsider")
    const colleagues = ["second", "third", "fourth", "fifth", "sixth", "seventh"]
    for (const subject of colleagues) {
      await service.api("POST", "/members", { as: "first", tenant: first.tenant, body: { subject, role: "MEMBER" } })
    }
    const finish = await crowd(repeated([first, ...colleagues.map((caller) => ({ ...first, caller }))], room + 2))
    assert.strictEqual((await create(victim)).status, 201)
    assert.lengthOf(refusedOf(await finish()), 2)
  })

  it("answers 503 at once when all queues are full, and probes all the while", async () => {
    const [one, other, third] = await Promise.all(["one", "other", "third"].map((caller) => newTarget(caller)))
    if (one === undefined || other === undefined || third === undefined) return assert.fail("three targets are made")
    await gate.close()
    const first = repeated([one], letIn).map(rename)
    await untilQueued("writes", letIn - atWork)
    const second = repeated([other], 4).map(rename)
    await gate.until(4)
    await untilQueued("writes", letIn)
    // Everything is let in that may be; one more of each fills the queues.
    const queued = [rename(one), rename(other), rename(third)]
    await untilQueued("database", queued.length)
    assertUnavailable(await read(third))
    assert.strictEqual((await service.call("GET", "/readyz")).status, 200)
    assert.strictEqual((await service.call("GET", "/healthz")).status, 200)
    await gate.open()
    assert.isEmpty(refusedOf(await Promise.all([...first, ...second, ...queued])))
  })

  it("counts what it refuses", async () => {
    const samples = parseMetrics((await service.call("GET", "/metrics")).text)
    const reasons = samples.filter(({ name }) => name === "http_requests_refused_total")
    assert.includeMembers(
      reasons.map(({ labels }) => labels["reason"]),
      ["queue", "full"]
    )
  })
})

describe("bodies that are on their way", () => {
  it("take 64 MiB of one caller at most, and leave room for others", async () => {
    const service = await startService()
    const tenant = await service.newTenant("slow")
    const other = await service.newTenant("other")
    const headers = {
      authorization: `Bearer ${await service.token("slow")}`,
      "tenant-id": tenant,
      "content-type": "application/json",
      "content-length": String(1024 * 1024)
    }
    let refused = 0
    const slow = Array.from({ length: 66 }, () => {
      const sending = request(`${service.url}/api/v1/clients`, { method: "POST", headers, agent: false })
      sending.on("response", () => refused++)
      sending.on("error", () => {}).write("{")
      return sending
    })
    const create = (as: string, tenant: string) =>
      service.api("POST", "/clients", { as, tenant, body: { name: "Northwind" } })
    await vi.waitUntil(() => refused === 2, { timeout: 10_000, interval: 10 })
    assertTooManyRequests(await create("slow", tenant))
    assert.strictEqual((await create("other", other)).status, 201)
    for (const sending of slow) sending.destroy()
    await vi.waitFor(async () => assert.strictEqual((await create("slow", tenant)).status, 201), { timeout: 10_000 })
    await service.stop()
  })
})

describe("fixed rates", () => {
  it("are told in the RateLimit fields, and beyond them a caller gets 429 until the minute is over", async () => {
    const service = await startService({ RATE_LIMIT_PER_CALLER: "5", RATE_LIMIT_PER_TENANT: "1000" })
    const tenant = await service.newTenant("other")
    await service.api("POST", "/members", { as: "other", tenant, body: { subject: "eager", role: "VIEWER" } })
    const answers: Array<ServiceResponse> = []
    // A minute may end in between, but not twice.
    while (answers.length < 12 && answers.at(-1)?.status !== 429) {
      answers.push(await service.api("GET", "/clients", { as: "eager", tenant }))
    }
    const [first, last] = [answers.at(0), answers.at(-1)]
    if (first === undefined || last === undefined) return assert.fail("there are answers")
    assert.strictEqual(first.headers.get("ratelimit-policy"), `"caller";q=5;w=60, "tenant";q=1000;w=60`)
    assert.match(first.headers.get("ratelimit") ?? "", /^"caller";r=4;t=\d+, "tenant";r=\d+;t=\d+$/)
    assertTooManyRequests(last)
    assert.match(last.headers.get("ratelimit") ?? "", /^"caller";r=0;t=\d+$/)
    const limits = await service.api("GET", "/limits", { as: "other", tenant })
    assert.deepInclude(limits.body.data.at(-2), { name: "callerRequests", scope: "caller", max: 5 })
    assert.deepInclude(limits.body.data.at(-1), { name: "tenantRequests", scope: "tenant", max: 1000 })
    await service.stop()
  })

  it("are not told where none are set", async () => {
    const service = await startService()
    const tenant = await service.newTenant()
    const { headers } = await service.api("GET", "/clients", { as: "owner", tenant })
    assert.isNull(headers.get("ratelimit"))
    assert.isNull(headers.get("ratelimit-policy"))
    await service.stop()
  })
})
