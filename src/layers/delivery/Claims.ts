import * as SqlClient from "@effect/sql/SqlClient"
import { Array, Effect, Random } from "effect"
import type { Pool } from "../../domain/delivery/SendLimits.ts"
import type { TenantId } from "../../domain/tenancy/Tenant.ts"
import { atomically } from "../postgres/connection/Transaction.ts"
import { finishing } from "../postgres/connection/Transactions.ts"
import { type DueQueue, lockQueues, maxStale, requeue } from "./DeliveryQueues.ts"

/** A delivery that is ours for a while, with all that is needed to send it. */
export interface Claimed {
  readonly tenant: TenantId
  readonly integration: string
  readonly id: string
  readonly lease: string
  /** How often it was tried, and how often before it was last sent again on demand. */
  readonly attempts: number
  readonly spent: number
  /** Whether who had it before did not come back. */
  readonly wasLost: boolean
  readonly provider: "WEBHOOK" | "NATS" | "GOOGLE_DRIVE"
  readonly config: Readonly<Record<string, unknown>>
  readonly secrets: ReadonlyArray<{ readonly generation: number; readonly sealed: string }> | null
  readonly event: string
  readonly type: string
  readonly timestamp: string
  readonly client: string | null
  readonly sequence: number
  readonly data: string
  /** The integration's concurrency limit when this was claimed. */
  readonly sendLimit: number
}

/** What one claim may take. */
export interface ClaimLimits {
  /** Only for receivers of this pool. */
  readonly pool: Pool
  readonly max: number
  readonly maxPerTenant: number
  /** Tenants with a maximum of their own. */
  readonly tenants: Readonly<Record<string, number>>
  /** Integrations whose concurrency limit is another than the first one of their pool. */
  readonly receivers: Readonly<Record<string, number>>
}

export const leaseSeconds = 30

/** What one claim took. */
export interface Claim {
  readonly claimed: ReadonlyArray<Claimed>
  /** The next claim goes on behind this tenant; undefined when this one has come to the end of what is due. */
  readonly resumeAfter: string | undefined
}

/** Deliveries that are due, to be sent by one worker and no other. */
export class Claims extends Effect.Service<Claims>()("layers/Claims", {
  effect: Effect.map(SqlClient.SqlClient, (sql) => {
    const until = sql.literal(`now() + interval '${leaseSeconds} seconds'`)
    const lock = lockQueues(sql)

    /** Takes from queues that are locked, each tenant's up to its allowance. */
    const take = (lease: string, queues: ReadonlyArray<DueQueue>, max: number) => sql<Claimed>`
      with queues as materialized (
        select * from rows from (json_to_recordset(${JSON.stringify(queues)}::json)
          as (tenant text, integration text, "sendLimit" integer, allowance integer)) with ordinality as queue
            (tenant, integration, send_limit, allowance, turn)
      ), due as (
        select taken.* from (select tenant, allowance from queues group by tenant, allowance order by tenant) sharing
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
        from due where lease is not null
      ), claimed as (
        update deliveries set lease = ${lease}, leased_until = ${until}, next_attempt_at = ${until},
          attempts = deliveries.attempts + case when due.lease is null then 0 else 1 end
        from due where deliveries.ctid = any (array(select row from due)) and deliveries.ctid = due.row
        returning deliveries.*, due.provider, due.config, due.send_limit, due.lease is not null as was_lost
      )
      select claimed.tenant_id as tenant, claimed.integration_id as integration, claimed.id, claimed.lease,
        claimed.attempts, claimed.spent, claimed.was_lost as "wasLost", claimed.provider, claimed.config,
        (select json_agg(json_build_object('generation', generation, 'sealed', encode(sealed, 'base64'))
            order by generation desc)
         from integration_secrets secrets
         where secrets.tenant_id = claimed.tenant_id and secrets.integration_id = claimed.integration_id
           and (expires_at is null or expires_at > now())) as secrets,
        event.id as event, event.type, event.occurred_at as timestamp, event.client_id as client,
        event.sequence, event.data::text as data, claimed.send_limit as "sendLimit"
      from claimed cross join lateral (
        select * from events where tenant_id = claimed.tenant_id and id = claimed.event_id limit 1
      ) event
      order by claimed.tenant_id, claimed.integration_id`

    const claim = (lease: string, after: string, limits: ClaimLimits, salt: number) =>
      Effect.gen(function* () {
        const locked = yield* lock(after, limits, salt)
        if (locked.length === 0) return { claimed: [], resumeAfter: undefined }
        const [stale, due] = Array.partition(locked, ({ isStale }) => !isStale)
        const claimed = due.length === 0 ? [] : yield* take(lease, due, limits.max)
        yield* finishing(requeue(sql)(locked))
        const last = claimed.length >= limits.max ? claimed.at(-1) : due.length >= limits.max ? due.at(-1) : undefined
        return { claimed, resumeAfter: last?.tenant ?? (stale.length >= maxStale ? after : undefined) }
      }).pipe(atomically(sql))

    return {
      /**
       * Takes what is due, tenant by tenant behind the one where the last claim ended, each up to its allowance. A lease
       * that ran out belongs to a worker that did not come back: its attempt is lost.
       */
      claim: (lease: string, after: string, limits: ClaimLimits): Effect.Effect<Claim> =>
        Effect.flatMap(Random.nextInt, (salt) => claim(lease, after, limits, salt))
    }
  })
}) {}
