import * as SqlClient from "@effect/sql/SqlClient"
import { Array, Effect, Random } from "effect"
import type { slowAfterMs } from "../../domain/delivery/SendLimits.ts"
import type { TenantId } from "../../domain/tenancy/Tenant.ts"
import { commitWith, inTransaction } from "../infra/postgres/connection/Transactions.ts"
import { withSpans } from "../infra/telemetry/UseCaseSpans.ts"
import { type ClaimLimits, type DueQueue, lockQueues, maxStaleQueues, rescheduleQueues } from "./DeliveryQueues.ts"

/** A delivery leased to this worker, with everything needed to send it. */
export interface ClaimedDelivery {
  readonly tenant: TenantId
  readonly integration: string
  readonly id: string
  readonly lease: string
  /** All attempts so far, and those made before the last redelivery request. */
  readonly attempts: number
  readonly spent: number
  /** Whether the previous lease expired without a result. */
  readonly wasLost: boolean
  readonly provider: keyof typeof slowAfterMs
  readonly config: Readonly<Record<string, unknown>>
  readonly secrets: ReadonlyArray<{ readonly generation: number; readonly sealed: string }> | null
  /** The address of a mail. */
  readonly recipient: string | null
  /** When an attempt of this round was about to end the mail. Null unless its result is unknown. */
  readonly unconfirmedSince: string | null
  readonly resource: string
  readonly event: string
  readonly type: string
  readonly timestamp: string
  readonly client: string | null
  readonly sequence: number
  readonly createdBy: string | null
  readonly traceParent: string | null
  readonly data: string
  /** The integration's concurrency limit at the time of the claim. */
  readonly sendLimit: number
}

export const leaseSeconds = 30

/** The result of one claim. */
export interface Claim {
  readonly claimed: ReadonlyArray<ClaimedDelivery>
  /** The next claim continues after this tenant; undefined when this claim reached the last due delivery. */
  readonly resumeAfter: string | undefined
}

/** Claims due deliveries: a lease makes sure that only one worker sends each of them. */
export class Claims extends Effect.Service<Claims>()("layers/Claims", {
  effect: Effect.map(SqlClient.SqlClient, (sql) => {
    const leaseEnd = sql.literal(`now() + interval '${leaseSeconds} seconds'`)
    const lockDueQueues = lockQueues(sql)

    /** Leases due deliveries of locked queues, up to each tenant's allowance. */
    const leaseDue = (lease: string, queues: ReadonlyArray<DueQueue>, max: number) => sql<ClaimedDelivery>`
      with queues as materialized (
        select * from rows from (json_to_recordset(${JSON.stringify(queues)}::json)
          as (tenant text, integration text, "sendLimit" integer, allowance integer)) with ordinality as queue
            (tenant, integration, send_limit, allowance, turn)
      ), due as (
        select taken.*, case when taken.recipient is not null then (
          select data_started_at from invoice_mails mail where mail.tenant_id = taken.tenant_id
            and mail.delivery_id = taken.id and mail.round = taken.spent and mail.outcome is null
        ) end as unconfirmed_since
        from (select tenant, allowance from queues group by tenant, allowance order by tenant) sharing
        cross join lateral (
          select waiting.*, receiver.provider, receiver.config, queue.send_limit
          from (select * from queues where tenant = sharing.tenant order by turn) queue
          cross join lateral (
            select * from integrations where tenant_id = queue.tenant and id = queue.integration and status = 'ACTIVE' limit 1
          ) receiver
          cross join lateral (
            select ctid as row, * from deliveries
            where tenant_id = receiver.tenant_id and integration_id = receiver.id
              and status = 'PENDING' and next_attempt_at <= now()
            order by next_attempt_at
            limit greatest(0, case when receiver.failing_since is null then queue.send_limit else 1 end - (
              select count(*) from deliveries flying
              where flying.tenant_id = receiver.tenant_id and flying.integration_id = receiver.id
                and flying.lease is not null and flying.leased_until > now()))
            for update skip locked
          ) waiting
          limit sharing.allowance
        ) taken
        limit ${max}
      ), lost as (
        insert into delivery_attempts (tenant_id, delivery_id, number, attempted_at, outcome, error)
        select tenant_id, id, attempts + 1, leased_until - interval '${sql.literal(String(leaseSeconds))} seconds',
          'LOST', 'The worker that sent it did not come back'
        from due where lease is not null and unconfirmed_since is null
      ), claimed as (
        update deliveries set lease = ${lease}, leased_until = ${leaseEnd}, next_attempt_at = ${leaseEnd},
          attempts = deliveries.attempts + case when due.lease is null or due.unconfirmed_since is not null then 0 else 1 end
        from due where deliveries.ctid = any (array(select row from due)) and deliveries.ctid = due.row
        returning deliveries.*, due.provider, due.config, due.send_limit, due.unconfirmed_since,
          due.lease is not null and due.unconfirmed_since is null as was_lost
      )
      select claimed.tenant_id as tenant, claimed.integration_id as integration, claimed.id, claimed.lease,
        claimed.attempts, claimed.spent, claimed.was_lost as "wasLost", claimed.provider, claimed.config,
        (select json_agg(json_build_object('generation', generation, 'sealed', encode(sealed, 'base64'))
            order by generation desc)
         from integration_secrets secrets
         where secrets.tenant_id = claimed.tenant_id and secrets.integration_id = claimed.integration_id
           and (expires_at is null or expires_at > now())) as secrets,
        claimed.recipient, claimed.unconfirmed_since as "unconfirmedSince", claimed.resource_id as resource,
        event.id as event, event.type, event.occurred_at as timestamp, event.client_id as client,
        event.sequence, event.created_by as "createdBy", event.trace_parent as "traceParent",
        event.data::text as data, claimed.send_limit as "sendLimit"
      from claimed cross join lateral (
        select * from events where tenant_id = claimed.tenant_id and id = claimed.event_id limit 1
      ) event
      order by claimed.tenant_id, claimed.integration_id`

    const claim = (lease: string, after: string, limits: ClaimLimits, salt: number) =>
      Effect.gen(function* () {
        const locked = yield* lockDueQueues(after, limits, salt)
        if (locked.length === 0) return { claimed: [], resumeAfter: undefined }
        const [stale, due] = Array.partition(locked, ({ isStale }) => !isStale)
        const claimed = due.length === 0 ? [] : yield* leaseDue(lease, due, limits.max)
        yield* commitWith(rescheduleQueues(sql)(locked))
        const last = claimed.length >= limits.max ? claimed.at(-1) : due.length >= limits.max ? due.at(-1) : undefined
        return { claimed, resumeAfter: last?.tenant ?? (stale.length >= maxStaleQueues ? after : undefined) }
      }).pipe(inTransaction(sql))

    return {
      /**
       * Leases due deliveries of the tenants after `after`, up to each tenant's allowance. An expired lease means that
       * its worker crashed: the claim logs that attempt as LOST. The worker logs that of a mail, which it must not send.
       */
      claim: (lease: string, after: string, limits: ClaimLimits): Effect.Effect<Claim> =>
        Effect.flatMap(Random.nextInt, (salt) => claim(lease, after, limits, salt))
    }
  }).pipe(withSpans("Claims"))
}) {}
