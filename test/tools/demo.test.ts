import { afterAll, assert, beforeAll, describe, it, onTestFinished } from "vitest"
import { buildClientPackage } from "../support/servers/clientProject.ts"
import { openPool } from "../support/servers/database.ts"
import { findClosedPort } from "../support/servers/proxy.ts"
import { type Service, startService } from "../support/servers/service.ts"
import { startWorker } from "../support/servers/worker.ts"
import { normalize, outputIn, runTool } from "./runTool.ts"

/** The numbers of the table: of each kind all, and what is new. */
const countsIn = (stdout: string) =>
  Object.fromEntries(
    [...stdout.matchAll(/^ +(\w+) +(\d+) +(\d+)$/gm)].map(([, kind = "", all, added]) => [
      kind,
      { all: Number(all), added: Number(added) }
    ])
  )

const workerNames = ["relay", "delivery", "intake"] as const

describe("npm run demo", { timeout: 180_000 }, () => {
  let ports: { readonly api: number; readonly jira: number; readonly receiver: number }
  beforeAll(async () => {
    await buildClientPackage()
    ports = { api: await findClosedPort(), jira: await findClosedPort(), receiver: await findClosedPort() }
  }, 240_000)

  const demo = async (service: Service) => {
    const tool = await runTool("demo", [
      ...["--url", service.url, "--token", await service.token("alice")],
      ...["--receiver-port", String(ports.receiver), "--jira-port", String(ports.jira)]
    ])
    assert.deepStrictEqual([tool.code, tool.stderr], [0, ""])
    return tool.stdout
  }

  describe("against a service with the settings that it prints", () => {
    let service: Service
    let first: string
    beforeAll(async () => {
      const url = `http://127.0.0.1:${ports.api}`
      const printed = await runTool("demo", ["--settings", "--url", url, "--jira-port", String(ports.jira)])
      const settings = Object.fromEntries(
        printed.stdout
          .trim()
          .split(" ")
          .map((pair) => pair.split("=", 2))
      )
      service = await startService({ ...settings, PORT: String(ports.api) })
      const workers = await Promise.all(workerNames.map((name) => startWorker(service, name)))
      stopAll = async () => {
        await Promise.all(workers.map(({ stop }) => stop()))
        await service.stop()
      }
      first = await demo(service)
    }, 240_000)
    let stopAll = async () => {}
    afterAll(() => stopAll())

    const read = async (path: string) => {
      const tenants = await service.api("GET", "/tenants", { as: "alice" })
      return (await service.api("GET", path, { as: "alice", tenant: tenants.body.data[0].id })).body.data
    }

    it("makes invoices in every status, in three currencies, for clients in three countries", async () => {
      const invoices: ReadonlyArray<{ status: string; currencyCode: string }> = await read("/invoices")
      assert.sameMembers([...new Set(invoices.map(({ status }) => status))], ["DRAFT", "FINALIZED", "PAID", "VOID"])
      assert.sameMembers([...new Set(invoices.map(({ currencyCode }) => currencyCode))], ["EUR", "USD", "JPY"])
      const addresses: ReadonlyArray<{ client?: string; country: string }> = await read("/addresses")
      const countries = addresses.filter(({ client }) => client !== undefined).map(({ country }) => country)
      assert.sameMembers([...new Set(countries)], ["Germany", "United States", "Japan"])
      assert.lengthOf(await read("/invoices?overdue=true"), 1)
      const balances: ReadonlyArray<{ status: string; paidMinor: number; balanceMinor: number }> =
        await read("/invoices")
      const isPaidInPart = ({ balanceMinor, paidMinor }: (typeof balances)[number]) => paidMinor > 0 && balanceMinor > 0
      assert.lengthOf(balances.filter(isPaidInPart), 1)
      const [note, ...others] = await read("/credit-notes")
      assert.deepInclude(note, { status: "FINALIZED", totalMinor: 1995, unallocatedMinor: 1995 })
      assert.isEmpty(others)
    })

    it("makes issues with an invoice, and a webhook receiver that fails for some events", async () => {
      const integrations: ReadonlyArray<{ id: string; provider: string }> = await read("/integrations")
      const idOf = (wanted: string) => integrations.find(({ provider }) => provider === wanted)?.id
      assert.lengthOf(await read(`/integrations/${idOf("JIRA")}/issues`), 3)
      const lines: ReadonlyArray<{ referenceId?: string }> = await read("/billables")
      assert.includeMembers(
        lines.map(({ referenceId }) => referenceId),
        ["PUMP-101", "PUMP-102"]
      )
      const path = `/integrations/${idOf("WEBHOOK")}/deliveries`
      const deliveries: ReadonlyArray<{ id: string; eventType: string; status: string }> = await read(path)
      const [delivered, failed] = [true, false].map((isDelivered) =>
        deliveries.filter(({ status }) => (status === "DELIVERED") === isDelivered)
      )
      assert.sameMembers(
        [...new Set(delivered?.map(({ eventType }) => eventType))],
        ["invoice.finalized", "invoice.paid"]
      )
      assert.deepStrictEqual([...new Set(failed?.map(({ eventType }) => eventType))], ["invoice.voided"])
      for (const { id } of failed ?? []) {
        const { attemptLog } = await read(`${path}/${id}`)
        assert.deepInclude(attemptLog[0], { outcome: "FAILED", responseStatus: 500 })
      }
    })

    it("prints the table of its documentation, and adds nothing when it runs again", async () => {
      const [steps = ""] = first.split("\n\n")
      assert.strictEqual(normalize(`${steps}\n`), normalize(outputIn("demo.md")))
      const counts = countsIn(first)
      // The caller is a member before the demo runs.
      for (const [kind, { added, all }] of Object.entries(counts))
        assert.strictEqual(added, kind === "members" ? all - 1 : all, kind)
      assert.isAbove(Object.keys(counts).length, 10)
      assert.strictEqual(counts["invoices"]?.all, (await read("/invoices")).length)

      const pool = openPool(service.database.url)
      onTestFinished(() => pool.end())
      const countEvents = async () => (await pool.query("select count(*) from events")).rows[0].count
      const before = await countEvents()
      const again = countsIn(await demo(service))
      assert.strictEqual(await countEvents(), before)
      for (const [kind, { all }] of Object.entries(counts)) assert.deepStrictEqual(again[kind], { all, added: 0 }, kind)
    })
  })

  it("leaves out the receiver and the issues when the service does not allow them, and says so", async () => {
    const service = await startService({ DELIVERY_ALLOW: "" })
    onTestFinished(() => service.stop())
    const stdout = await demo(service)
    assert.match(stdout, /webhooks +left out: the service may not send to this machine; npm run demo -- --help/)
    assert.match(stdout, /issues +left out: the service has no Jira; npm run demo -- --help/)
    assert.deepInclude(countsIn(stdout), { PAID: { all: 3, added: 3 }, integrations: { all: 1, added: 1 } })
  })

  it("prints its usage and rejects an unknown option", async () => {
    const { code, stdout } = await runTool("demo", ["--help"])
    assert.strictEqual(code, 0)
    assert.include(stdout, "--receiver-port")
    const rejected = await runTool("demo", ["--fast"])
    assert.strictEqual(rejected.code, 1)
    assert.match(rejected.stderr, /--fast.*--receiver-port/s)
  })
})
