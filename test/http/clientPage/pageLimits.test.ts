import { assert, describe, it } from "vitest"
import { parseMetrics } from "../../support/assertions/metrics.ts"
import { makePageFixture, startPageService } from "../../support/fixtures/clientPages.ts"
import { useFixture } from "../../support/fixtures/useFixture.ts"
import { eventually } from "../../support/servers/worker.ts"

const from = (address: string) => ({ headers: { "x-forwarded-for": address } })

const quota = 40

describe("The rate limit of a caller", { timeout: 60_000 }, () => {
  const fixture = useFixture(() =>
    startPageService({ TRUSTED_PROXIES: "127.0.0.0/8", RATE_LIMIT_PER_CALLER: String(quota) })
  )
  const open = (path: string, address: string) => fixture().service.call("GET", path, from(address))

  it("holds for all requests of an address for pages, with whatever token, and for each address alone", async () => {
    const page = await makePageFixture(fixture().service)
    const path = await page.pathTo((await page.issue()).id)
    const paths = ["/i/unknown", `/i/${"a".repeat(43)}`, path]
    // The quota is that of a minute, of which at most one ends meanwhile.
    const responses = []
    for (let n = 0; n <= 2 * quota; n++) responses.push(await open(paths[n % paths.length] ?? "", "192.0.2.1"))
    const rejected = responses.find(({ status }) => status === 429) ?? assert.fail("no request was rejected")
    assert.isNotNull(rejected.headers.get("retry-after"))
    assert.strictEqual(rejected.headers.get("content-type"), "text/html; charset=utf-8")
    assert.include(rejected.text, "Please try again in a moment")
    assert.strictEqual((await open(path, "192.0.2.2")).status, 200)
  })
})

describe("The queue of requests for pages", { timeout: 60_000 }, () => {
  const fixture = useFixture(() =>
    startPageService({ TRUSTED_PROXIES: "127.0.0.0/8", MAX_QUEUED_REQUESTS_PER_CALLER: "8" })
  )
  const open = (path: string, address: string) => fixture().service.call("GET", path, from(address))
  const rejectedPages = async () => {
    const samples = parseMetrics((await fixture().service.call("GET", "/metrics")).text)
    const isRejected = (name: string, reason = "") => name === "http_requests_refused_total" && reason === "queue"
    return samples.find(({ labels, name }) => isRejected(name, labels["reason"]))?.value ?? 0
  }

  it("is short for an address, and leaves connections to the API while look-ups are slow", async () => {
    const { pool, service } = fixture()
    const neighbour = await makePageFixture(service)
    const path = await neighbour.pathTo((await neighbour.issue()).id)
    const locker = await pool.connect()
    await locker.query("begin; lock table invoice_links in access exclusive mode")
    const waiting = Array.from({ length: 30 }, () => open(path, "192.0.2.3"))
    for (let n = 0; n < 20; n++) assert.strictEqual((await neighbour.call("GET", "/clients")).status, 200)
    // More than the queue of the address holds is rejected once it stands, while the others wait.
    await eventually(async () => (await rejectedPages()) > 0, "the queue is cut")
    await locker.query("rollback")
    locker.release()
    const statuses = (await Promise.all(waiting)).map(({ status }) => status)
    assert.isAtLeast(statuses.filter((status) => status === 429).length, 1)
    assert.isAtLeast(statuses.filter((status) => status === 200).length, 8)
  })
})
