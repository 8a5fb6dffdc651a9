import * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import { Counter } from "prom-client"
import { type ProcessingResult, processingResults } from "../../domain/trackers/IssueUpdate.ts"
import { makeBacklogGauges } from "../infra/postgres/BacklogGauges.ts"
import { MetricsRegistry } from "../infra/telemetry/MetricsRegistry.ts"

const backlog = {
  webhooks_waiting: "Inbound webhooks of active integrations that are not processed yet",
  webhooks_oldest_waiting_seconds: "Age of the oldest of these webhooks"
}

/** Webhooks of inactive integrations are no backlog. Uses a partial index of pending webhooks. */
const queryBacklog = (sql: SqlClient.SqlClient) => sql<Record<keyof typeof backlog, number>>`
  select count(*) as webhooks_waiting,
    coalesce(extract(epoch from now() - min(w.received_at)), 0) as webhooks_oldest_waiting_seconds
  from inbound_webhooks w
  join integrations i on i.tenant_id = w.tenant_id and i.id = w.integration_id and i.status = 'ACTIVE'
  join tenants t on t.id = w.tenant_id and t.deleted_at is null
  where w.status = 'RECEIVED'`

/** The result of receiving a webhook: stored, already known, or of no interest to any integration. */
const receipts = ["ACCEPTED", "DUPLICATE", "UNWANTED"] as const

type Receipt = (typeof receipts)[number]

/** Backlog and counters of inbound webhooks. */
export class IntakeMetrics extends Effect.Service<IntakeMetrics>()("layers/IntakeMetrics", {
  dependencies: [MetricsRegistry.Default],
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const { registry } = yield* MetricsRegistry
    const makeCounter = (name: string, help: string, outcomes: ReadonlyArray<string>) => {
      const counter = new Counter({ name, help, labelNames: ["outcome"], registers: [registry] })
      for (const outcome of outcomes) counter.inc({ outcome }, 0)
      return counter
    }
    const received = makeCounter("webhooks_received_total", "Received inbound webhooks by outcome", receipts)
    const processed = makeCounter(
      "webhooks_processed_total",
      "Processed inbound webhooks by outcome",
      processingResults
    )

    return {
      countReceived: (outcome: Receipt) => received.inc({ outcome }),
      countProcessed: (outcome: ProcessingResult) => processed.inc({ outcome }),
      /** Refreshes the backlog gauges. */
      refreshBacklog: yield* makeBacklogGauges(registry, backlog, queryBacklog(sql))
    }
  })
}) {}
