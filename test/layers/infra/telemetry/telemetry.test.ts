import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Context, Effect, Exit, Layer, Scope } from "effect"
import { afterAll, assert, beforeAll, describe, it, vi } from "vitest"
import manifest from "../../../../package.json" with { type: "json" }
import { handlerGroups } from "../../../../src/http/HandlerGroups.ts"
import { HttpPort, httpLive } from "../../../../src/http/Http.ts"
import { signDevelopmentToken } from "../../../../src/layers/infra/auth/DevelopmentKey.ts"
import { readSettings, Settings } from "../../../../src/layers/infra/config/Settings.ts"
import { SqlLive } from "../../../../src/layers/infra/postgres/connection/PostgresClient.ts"
import { MigrationsLive } from "../../../../src/layers/infra/postgres/Migrations.ts"
import { TelemetryLive } from "../../../../src/layers/infra/telemetry/Telemetry.ts"
import { blocksOf, sectionOf, tableRowsOf } from "../../../support/assertions/docs.ts"
import { type Collector, startCollector } from "../../../support/servers/collector.ts"
import { freshDatabase } from "../../../support/servers/database.ts"

const tracedId = "0af7651916cd43dd8448eb211c80319c"

const logRows = tableRowsOf(sectionOf("docs/operations.md", "Logs"))

/** The documented fields of a log line that are present in every case, or in some. */
const fieldsOf = (isPresent: (when: string) => boolean) =>
  logRows.flatMap(([names = "", when = "", meaning]) =>
    meaning !== undefined && when !== "when" && isPresent(when) ? names.split(", ") : []
  )

describe("TelemetryLive", () => {
  let collector: Collector
  let database: Awaited<ReturnType<typeof freshDatabase>>
  const scope = Effect.runSync(Scope.make())
  const dataDir = mkdtempSync(join(tmpdir(), "contracting-telemetry-"))
  let url: string
  let token: string
  const lines: Array<string> = []

  beforeAll(async () => {
    vi.spyOn(console, "log").mockImplementation((line) => lines.push(String(line)))
    collector = await startCollector()
    database = await freshDatabase()
    const settings = Layer.effect(
      Settings,
      readSettings({
        DATABASE_URL: database.url,
        PORT: "0",
        DATA_DIR: dataDir,
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
        OTEL_EXPORTER_OTLP_HEADERS: "x-key=collector-key, x-other=1",
        LOG_LEVEL: "debug",
        LOG_FORMAT: "json"
      })
    )
    const live = httpLive(handlerGroups).pipe(
      Layer.provide(MigrationsLive),
      Layer.provide(SqlLive),
      Layer.provide(TelemetryLive("api")),
      Layer.provideMerge(settings)
    )
    const context = await Effect.runPromise(Layer.buildWithScope(live, scope))
    url = `http://127.0.0.1:${Context.get(context, HttpPort)}`
    token = await Effect.runPromise(Effect.provide(signDevelopmentToken("tracer", 600), context))
  })
  afterAll(async () => {
    await database.drop()
    collector.close()
    rmSync(dataDir, { recursive: true, force: true })
  })

  it("exports the trace of a caller with the spans of its use-case and SQL, and logs without tokens", async () => {
    const response = await fetch(`${url}/api/v1/tenants`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${token}`,
        "content-type": "application/json",
        traceparent: `00-${tracedId}-b7ad6b7169203331-01`
      },
      body: JSON.stringify({ name: "Traced" })
    })
    assert.strictEqual(response.status, 201)
    // Closing flushes the exporters.
    await Effect.runPromise(Scope.close(scope, Exit.void))
    const spans = collector.spans().filter((span) => span.traceId === tracedId)
    const request = spans.find(({ name }) => name === "tenants.create")
    assert.strictEqual(request?.parentSpanId, "b7ad6b7169203331")
    assert.isTrue(spans.some(({ name }) => name === "Tenants.create"))
    assert.isTrue(spans.some(({ name }) => name === "sql.execute"))
    assert.isTrue(collector.received.some(({ path }) => path === "/v1/logs"))
    assert.isTrue(collector.received.every(({ key }) => key === "collector-key"))
    assert.isFalse(collector.received.some(({ body }) => body.includes(token)))
  })

  it("writes log lines with the documented fields, and with the trace of a request", () => {
    const [example = ""] = blocksOf(sectionOf("docs/operations.md", "Logs"), "json")
    const documented = fieldsOf(() => true)
    const required = fieldsOf((when) => when === "always")
    assert.sameMembers(Object.keys(JSON.parse(example)), documented)
    assert.isNotEmpty(lines)
    for (const line of lines) {
      const fields = JSON.parse(line)
      assert.includeMembers(Object.keys(fields), required, line)
      assert.includeMembers(documented, Object.keys(fields), line)
      assert.include(fields, { service: "contracting", version: manifest.version, process: "api" })
    }
    const request = lines.map((line) => JSON.parse(line)).find(({ operation }) => operation === "tenants.create")
    assert.include(request, { level: "DEBUG", message: "POST tenants.create 201", traceId: tracedId })
    assert.isFalse(lines.some((line) => line.includes(token)))
  })
})
