import * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import { Counter } from "prom-client"
import { type WorkResult, workResults } from "../../domain/tracker/Intake.ts"
import { makeBacklog } from "./Backlog.ts"
import { MetricsRegistry } from "./MetricsRegistry.ts"

const backlog = {
  webhooks_waiting: "Webhooks of trackers that could be worked now",
  webhooks_oldest_waiting_seconds: "How long ago the first of these came in"
}

/** What is kept for integrations that are not at work is not behind. Answered by an index of what waits alone. */
const reading = (sql: SqlClient.SqlClient) => sql<Record<keyof typeof backlog, number>>`
  select count(*) as webhooks_waiting,
    coalesce(extract(epoch from now() - min(w.received_at)), 0) as webhooks_oldest_waiting_seconds
  from inbound_webhooks w
  join integrations i on i.tenant_id = w.tenant_id and i.id = w.integration_id and i.status = 'ACTIVE'
  join tenants t on t.id = w.tenant_id and t.deleted_at is null
  where w.status = 'RECEIVED'`

/** What came of a webhook when it was received: kept, known already, or wanted by nobody. */
const receipts = ["ACCEPTED", "DUPLICATE", "UNWANTED"] as const

type Receipt = (typeof receipts)[number]

/** How far behind the intake is, and what came of what trackers sent. */
export class IntakeMetrics extends Effect.Service<IntakeMetrics>()("layers/IntakeMetrics", {
  dependencies: [MetricsRegistry.Default],
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const { registry } = yield* MetricsRegistry
    const counter = (name: string, help: string, outcomes: ReadonlyArray<string>) => {
      const made = new Counter({ name, help, labelNames: ["outcome"], registers: [registry] })
      for (const outcome of outcomes) made.inc({ outcome }, 0)
      return made
    }
    const received = counter("webhooks_received_total", "Webhooks of trackers, by what came of them", receipts)
    const worked = counter("webhooks_worked_total", "Webhooks that were worked, by what came of that", workResults)

    return {
      received: (outcome: Receipt) => received.inc({ outcome }),
      worked: (outcome: WorkResult) => worked.inc({ outcome }),
      /** Reads the backlog anew. */
      refresh: yield* makeBacklog(registry, backlog, reading(sql))
    }
  })
}) {}
