import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { invoiceClient } from "../../support/fixtures/invoices.ts"
import { type ApiProcesses, bundleApi, prepareApiProcesses } from "../../support/servers/apiProcesses.ts"
import { type Collector, startCollector } from "../../support/servers/collector.ts"
import { openPool } from "../../support/servers/database.ts"
import { eventually } from "../../support/servers/worker.ts"

describe("The token of a page", { timeout: 120_000 }, () => {
  let collector: Collector
  let processes: ApiProcesses
  beforeAll(async () => {
    await bundleApi()
    collector = await startCollector()
    processes = await prepareApiProcesses({
      LOG_LEVEL: "debug",
      PUBLIC_URL: "http://127.0.0.1",
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url
    })
  })
  afterAll(async () => {
    await processes.stopAll()
    collector.close()
  })

  const runSql = async (statement: string) => {
    const pool = openPool(processes.database.url)
    await pool.query(statement)
    await pool.end()
  }

  /** The operations that a client of invoices needs, on a process. */
  const clientOf = async (url: string) => {
    const authorization = `Bearer ${await processes.token("owner")}`
    const api = async (
      method: string,
      path: string,
      { body, tenant = "" }: { body?: unknown; tenant?: string } = {}
    ) => {
      const response = await fetch(`${url}/api/v1${path}`, {
        method,
        headers: { authorization, "content-type": "application/json", "tenant-id": tenant },
        ...(body === undefined ? {} : { body: JSON.stringify(body) })
      })
      const text = await response.text()
      return { status: response.status, text, body: JSON.parse(text) }
    }
    const { body } = await api("POST", "/tenants", { body: { name: "Tenant" } })
    // The client of invoices calls nothing else of a service.
    return invoiceClient({ api } as unknown as Parameters<typeof invoiceClient>[0], body.data.id)
  }

  it("is in no log line, span, metric, header or error, whatever becomes of the request", async () => {
    const { lines, stop, url } = await processes.start()
    const invoices = await clientOf(url)
    const { id } = await invoices.invoiceIn("FINALIZED")
    const { body } = await invoices.call("GET", `/invoices/${id}/link`)
    const path = String(body.data.url).replace("http://127.0.0.1", "")
    const token = path.slice(3)
    assert.lengthOf(token, 43)

    const open = async (address: string, init?: RequestInit) => {
      const response = await fetch(url + address, init)
      return { status: response.status, headers: JSON.stringify([...response.headers]), text: await response.text() }
    }
    const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    const shown = [await open(path, { headers: { traceparent } }), await open(path, { method: "HEAD" })]
    for (const { status } of shown) assert.strictEqual(status, 200)
    const rotated = await invoices.call("POST", `/invoices/${id}/link/rotate`)
    assert.strictEqual(rotated.status, 200)
    const refused = [
      await open(path),
      await open(`${path}/pdf`),
      await open(`${path}/logo`),
      await open(`${path}/other`),
      await open(path, { method: "POST" }),
      await open(`${path}.`)
    ]
    for (const { status } of refused) assert.strictEqual(status, 404)
    // A query that fails: the cause of the internal error is logged.
    await runSql("alter table invoice_links rename to renamed_links")
    const next = String(rotated.body.data.url).slice("http://127.0.0.1".length)
    const failed = await open(next)
    assert.strictEqual(failed.status, 500)
    await runSql("alter table renamed_links rename to invoice_links")
    const metrics = await open("/metrics")
    // Stopping flushes the exporters.
    await stop()

    const log = lines.join("\n")
    const traces = collector.received.map((request) => request.body).join("\n")
    assert.include(log, "/i/{token} 200")
    assert.include(log, "/i/{token} 404")
    assert.include(log, "A request failed with an internal error")
    await eventually(() => Promise.resolve(collector.spans().some(({ name }) => name === "/i/{token}")), "a span")
    assert.include(metrics.text, 'operation="/i/{token}/pdf",status="404"')
    const written = [
      log,
      traces,
      metrics.text,
      failed.text,
      ...[...shown, ...refused, failed].map((one) => one.headers)
    ]
    for (const secret of [token, next.slice(3)])
      for (const text of [...written, ...refused.map((one) => one.text)]) assert.notInclude(text, secret)
  })
})
