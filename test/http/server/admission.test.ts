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

// DATABASE_POOL 6 admits 24 requests: 16 of one caller, 20 of one tenant, of which 4 and 5 have a connection at a time.
describe("Request admission", () => {
  const limits = { DATABASE_POOL: "6", MAX_QUEUED_REQUESTS_PER_CALLER: "2", MAX_QUEUED_REQUESTS: "3" }
  const [maxAdmitted, maxWriting, maxQueued] = [16, 4, 2]
  const [maxAdmittedOfTenant, maxWritingOfTenant] = [20, 5]
  const capacity = maxAdmitted + maxQueued
  let service: Service
  let pool: ReturnType<typeof openPool>
  let gate: Gate
  beforeAll(async () => {
    service = await startService(limits)
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
  const until = (metric: string, value: number) =>
    vi.waitUntil(
      async () => {
        const samples = parseMetrics((await service.call("GET", "/metrics")).text)
        return samples.some(
          (sample) => sample.name === metric && sample.labels["queue"] === "database" && sample.value === value
        )
      },
      { timeout: 60_000, interval: 10 }
    )
  const untilQueued = (count: number) => until("http_requests_queued", count)
  const untilStanding = () => until("http_requests_queue_standing", 1)
  /** The request for the metrics is in flight, too. */
  const untilInFlight = (count: number) =>
    vi.waitUntil(
      async () => {
        const samples = parseMetrics((await service.call("GET", "/metrics")).text)
        return samples.find(({ name }) => name === "http_requests_in_flight")?.value === count + 1
      },
      { timeout: 60_000, interval: 10 }
    )
  /** The targets over and over, up to the count. */
  const repeated = (targets: ReadonlyArray<Target>, count: number) =>
    Array.from({ length: Math.ceil(count / targets.length) }, () => targets)
      .flat()
      .slice(0, count)

  /**
   * Renames clients behind a closed gate until each request is writing, queued or rejected; the returned function opens
   * the gate.
   */
  const fillQueues = async (targets: ReadonlyArray<Target>, admitted = maxAdmitted, writing = maxWriting) => {
    await gate.close()
    let completed = 0
    const responses = targets.map((target) =>
      rename(target).then((response) => {
        completed++
        return response
      })
    )
    const excess = targets.length - admitted - maxQueued
    await gate.untilWaiting(writing)
    await untilStanding()
    await untilQueued(maxQueued)
    await vi.waitUntil(() => completed === excess, { timeout: 60_000, interval: 10 })
    return async () => {
      await gate.open()
      return Promise.all(responses)
    }
  }

  const rejectedOf = (responses: ReadonlyArray<ServiceResponse>) => responses.filter(({ status }) => status !== 200)

  it("responds 429 to a caller whose own queue is full and still serves other callers", async () => {
    const target = await newTarget("greedy")
    const victim = await newTarget("victim")
    const finish = await fillQueues(repeated([target], capacity + 5))
    assert.strictEqual((await read(victim)).status, 200)
    assert.strictEqual((await create(victim)).status, 201)
    const responses = await finish()
    assert.lengthOf(rejectedOf(responses), 5)
    for (const response of rejectedOf(responses)) assertTooManyRequests(response)
  })

  it("counts reads of a caller together with writes", async () => {
    const target = await newTarget("reader")
    const finish = await fillQueues(repeated([target], capacity))
    assertTooManyRequests(await read(target))
    assert.isEmpty(rejectedOf(await finish()))
    assert.strictEqual((await read(target)).status, 200)
  })

  it("counts a request while its body arrives, and rejects others without reading theirs", async () => {
    const target = await newTarget("uploader")
    await gate.close()
    const renames = repeated([target], capacity - 1).map(rename)
    await untilQueued(maxQueued - 1)
    await untilStanding()
    const authorization = `Bearer ${await service.token(target.caller)}`
    const headers = { authorization, "tenant-id": target.tenant, "content-length": "100" }
    const begin = () => {
      const sending = request(`${service.url}/api/v1/clients`, { method: "POST", headers, agent: false })
      const status = new Promise<number | undefined>((resolve) => {
        sending.on("response", (response) => resolve(response.statusCode)).on("error", () => resolve(undefined))
      })
      sending.write("{")
      return { sending, status }
    }
    const arriving = begin()
    await untilInFlight(renames.length + 1)
    const rejected = begin()
    assert.strictEqual(await rejected.status, 429)
    rejected.sending.destroy()
    arriving.sending.destroy()
    assert.isUndefined(await arriving.status)
    await untilInFlight(renames.length)
    const reading = read(target)
    await untilQueued(maxQueued)
    await gate.open()
    assert.isEmpty(rejectedOf(await Promise.all([...renames, reading])))
  })

  it("counts requests of one caller in all tenants together", async () => {
    const targets: Array<Target> = []
    while (targets.length < 8) targets.push(await newTarget("landlord"))
    const victim = await newTarget("tenant of another")
    const finish = await fillQueues(repeated(targets, capacity + 3))
    assert.strictEqual((await create(victim)).status, 201)
    const responses = await finish()
    assert.lengthOf(rejectedOf(responses), 3)
    for (const response of rejectedOf(responses)) assertTooManyRequests(response)
  })

  it("leaves room to other callers of a tenant while one caller has all that it can get", async () => {
    const greedy = await newTarget("greedy colleague")
    const members = { as: greedy.caller, tenant: greedy.tenant, body: { subject: "colleague", role: "MEMBER" } }
    assert.strictEqual((await service.api("POST", "/members", members)).status, 201)
    await gate.close()
    const renames = repeated([greedy], maxAdmitted).map(rename)
    await gate.untilWaiting(maxWriting)
    await untilInFlight(renames.length)
    assert.strictEqual((await read({ ...greedy, caller: "colleague" })).status, 200)
    await gate.open()
    assert.isEmpty(rejectedOf(await Promise.all(renames)))
  })

  it("counts requests of all callers in one tenant together", async () => {
    const first = await newTarget("first")
    const victim = await newTarget("outsider")
    const colleagues = ["second", "third", "fourth", "fifth", "sixth", "seventh"]
    for (const subject of colleagues) {
      await service.api("POST", "/members", { as: "first", tenant: first.tenant, body: { subject, role: "MEMBER" } })
    }
    const finish = await fillQueues(
      repeated([first, ...colleagues.map((caller) => ({ ...first, caller }))], maxAdmittedOfTenant + maxQueued + 2),
      maxAdmittedOfTenant,
      maxWritingOfTenant
    )
    assert.strictEqual((await create(victim)).status, 201)
    assert.lengthOf(rejectedOf(await finish()), 2)
  })

  it("responds 503 when all queues are full, except to health probes", async () => {
    const callers = ["one", "other", "last", "newcomer"]
    const [one, other, last, newcomer] = await Promise.all(callers.map((caller) => newTarget(caller)))
    if (one === undefined || other === undefined || last === undefined || newcomer === undefined)
      return assert.fail("expected four targets")
    await gate.close()
    const first = repeated([one], maxAdmitted).map(rename)
    await gate.untilWaiting(maxWriting)
    await untilInFlight(first.length)
    // The last permit is for a caller that has none.
    const second = repeated([other], 7).map(rename)
    await gate.untilWaiting(maxWriting + 1)
    await untilInFlight(first.length + second.length)
    const third = [rename(last)]
    const queued = [rename(one), rename(other), rename(last)]
    await untilQueued(queued.length)
    await untilStanding()
    assertUnavailable(await read(newcomer))
    assert.isDefined(service.logs.find((line) => line.includes("the queue is full: database")))
    assert.strictEqual((await service.call("GET", "/readyz")).status, 200)
    assert.strictEqual((await service.call("GET", "/healthz")).status, 200)
    await gate.open()
    assert.isEmpty(rejectedOf(await Promise.all([...first, ...second, ...third, ...queued])))
  })

  it("serves a burst of one caller beyond the maxima of queues", async () => {
    const target = await newTarget("bursting")
    const responses = await Promise.all(Array.from({ length: 250 }, () => read(target)))
    assert.isEmpty(rejectedOf(responses))
  })

  it("counts rejected requests by reason in the metrics", async () => {
    const samples = parseMetrics((await service.call("GET", "/metrics")).text)
    const reasons = samples.filter(({ name }) => name === "http_requests_refused_total")
    assert.includeMembers(
      reasons.map(({ labels }) => labels["reason"]),
      ["queue", "full"]
    )
  })
})

describe("Unfinished request bodies", () => {
  it("use at most 32 MiB per caller and do not block other callers", async () => {
    const service = await startService({})
    const tenant = await service.newTenant("slow")
    const other = await service.newTenant("other")
    const headers = {
      authorization: `Bearer ${await service.token("slow")}`,
      "tenant-id": tenant,
      "content-type": "application/json",
      "content-length": String(1024 * 1024)
    }
    let rejected = 0
    const slow = Array.from({ length: 34 }, () => {
      const sending = request(`${service.url}/api/v1/clients`, { method: "POST", headers, agent: false })
      sending.on("response", () => rejected++)
      sending.on("error", () => {}).write("{")
      return sending
    })
    const create = (as: string, tenant: string) =>
      service.api("POST", "/clients", { as, tenant, body: { name: "Northwind" } })
    await vi.waitUntil(() => rejected === 2, { timeout: 60_000, interval: 10 })
    assertTooManyRequests(await create("slow", tenant))
    assert.strictEqual((await create("other", other)).status, 201)
    for (const sending of slow) sending.destroy()
    await vi.waitFor(async () => assert.strictEqual((await create("slow", tenant)).status, 201), { timeout: 60_000 })
    await service.stop()
  })
})

describe("RATE_LIMIT_PER_CALLER and RATE_LIMIT_PER_TENANT", () => {
  it("appear in the RateLimit headers and reject requests beyond them with 429", async () => {
    const service = await startService({ RATE_LIMIT_PER_CALLER: "5", RATE_LIMIT_PER_TENANT: "1000" })
    const tenant = await service.newTenant("other")
    await service.api("POST", "/members", { as: "other", tenant, body: { subject: "eager", role: "VIEWER" } })
    const responses: Array<ServiceResponse> = []
    // The minute of the limit may end during these requests, but not twice.
    while (responses.length < 12 && responses.at(-1)?.status !== 429) {
      responses.push(await service.api("GET", "/clients", { as: "eager", tenant }))
    }
    const [first, last] = [responses.at(0), responses.at(-1)]
    if (first === undefined || last === undefined) return assert.fail("expected responses")
    assert.strictEqual(first.headers.get("ratelimit-policy"), `"caller";q=5;w=60, "tenant";q=1000;w=60`)
    assert.match(first.headers.get("ratelimit") ?? "", /^"caller";r=4;t=\d+, "tenant";r=\d+;t=\d+$/)
    assertTooManyRequests(last)
    assert.match(last.headers.get("ratelimit") ?? "", /^"caller";r=0;t=\d+$/)
    const limits = await service.api("GET", "/limits", { as: "other", tenant })
    assert.deepInclude(limits.body.data.at(-2), { name: "callerRequests", scope: "caller", max: 5 })
    assert.deepInclude(limits.body.data.at(-1), { name: "tenantRequests", scope: "tenant", max: 1000 })
    await service.stop()
  })

  it("send no RateLimit headers when they are not set", async () => {
    const service = await startService({})
    const tenant = await service.newTenant()
    const { headers } = await service.api("GET", "/clients", { as: "owner", tenant })
    assert.isNull(headers.get("ratelimit"))
    assert.isNull(headers.get("ratelimit-policy"))
    await service.stop()
  })
})
