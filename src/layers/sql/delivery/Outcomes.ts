import * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import type { TenantId } from "../../../domain/tenancy/Tenant.ts"
import { atomically } from "../connection/Transaction.ts"
import { finishing } from "../connection/Transactions.ts"
import { advanceLanes, type Lane, shareLanes } from "./Lanes.ts"

/** What came of one attempt. */
export interface Outcome {
  readonly tenant: TenantId
  readonly integration: string
  readonly id: string
  readonly lease: string
  readonly delivered: boolean
  readonly attemptedAt: string
  readonly latencyMs: number
  readonly status?: number | undefined
  readonly body?: string | undefined
  readonly error?: string | undefined
  /** When it is tried again; never, if this is left out. */
  readonly nextAttemptAt?: string | undefined
  /** Why the integration is stopped until a person has done something about it. */
  readonly stop?: string | undefined
}

/** Writes down what came of attempts, and lets those that waited for them go on. */
export class Outcomes extends Effect.Service<Outcomes>()("layers/Outcomes", {
  effect: Effect.map(SqlClient.SqlClient, (sql) => {
    const given = (
      outcomes: ReadonlyArray<Outcome>
    ) => sql`json_to_recordset(${JSON.stringify(outcomes)}::json) as given
      (tenant text, integration text, id text, lease text, delivered boolean, "attemptedAt" timestamptz,
       "latencyMs" integer, status integer, body text, error text, "nextAttemptAt" timestamptz)`

    /** Only whoever still has the lease has a say. Tells the lanes whose first is finished. */
    const write = (outcomes: ReadonlyArray<Outcome>) => sql<Lane>`
      with held as materialized (
        select deliveries.tenant_id, deliveries.id, deliveries.attempts + 1 as number, given.delivered,
          given."attemptedAt", given."latencyMs", given.status, given.body, given.error, given."nextAttemptAt"
        from ${given(outcomes)} join deliveries on deliveries.tenant_id = given.tenant and deliveries.id = given.id
        where deliveries.lease = given.lease order by deliveries.id for update of deliveries
      ), logged as (
        insert into delivery_attempts (tenant_id, delivery_id, number, attempted_at, outcome, latency_ms,
          response_status, response_body, error)
        select tenant_id, id, number, "attemptedAt", case when delivered then 'DELIVERED' else 'FAILED' end,
          "latencyMs", status, body, error
        from held
      ), settled as (
        update deliveries set
          status = case when delivered then 'DELIVERED' when "nextAttemptAt" is null then 'EXHAUSTED' else 'PENDING' end,
          attempts = number, lease = null, leased_until = null, next_attempt_at = "nextAttemptAt",
          response_status = held.status, error = held.error,
          delivered_at = case when delivered then now() end, updated_at = now()
        from held where deliveries.tenant_id = held.tenant_id and deliveries.id = held.id
        returning deliveries.tenant_id, deliveries.integration_id, deliveries.resource_id, deliveries.status
      )
      select tenant_id as tenant, integration_id as integration, resource_id as resource
      from settled where status <> 'PENDING'`

    /** Since when an integration fails. It is written when it begins and ends, not each time. */
    const judge = (outcomes: ReadonlyArray<Outcome>) => sql`
      with told as (
        select tenant, integration, bool_or(delivered) as works from ${given(outcomes)} group by 1, 2
      )
      update integrations set failing_since = case when works then null else now() end
      from told where tenant_id = told.tenant and id = told.integration and (failing_since is null) <> works`

    const settle = (outcomes: ReadonlyArray<Outcome>) =>
      atomically(sql)(
        shareLanes(sql)(outcomes).pipe(
          Effect.zipRight(write(outcomes)),
          Effect.flatMap((lanes) => Effect.when(finishing(advanceLanes(sql)(lanes)), () => lanes.length > 0))
        )
      )

    return {
      /** Since when an integration fails is no part of the outcomes: nobody has to wait for the one to write the other. */
      record: (outcomes: ReadonlyArray<Outcome>) =>
        Effect.all([settle(outcomes), judge(outcomes)], { concurrency: "unbounded", discard: true }).pipe(Effect.orDie)
    }
  })
}) {}
