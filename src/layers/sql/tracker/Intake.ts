import * as SqlClient from "@effect/sql/SqlClient"
import { Cause, Effect } from "effect"
import { isOutage } from "../connection/Outage.ts"
import type { IssueKey } from "./intake/IssueKey.ts"
import { makeOneByOne } from "./intake/OneByOne.ts"
import { makeTaking } from "./intake/Taking.ts"
import { makeTogether, type Rest } from "./intake/Together.ts"
import { makeWriting } from "./intake/Writing.ts"
import type { InboundKey } from "./Receiving.ts"

/** What the broker brings is left to it for so long; what failed waits longer each time. */
const graceSeconds = 2

/** Works webhooks off, issue by issue, each with its effects in one transaction. */
export class Intake extends Effect.Service<Intake>()("layers/Intake", {
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const taking = makeTaking(sql)
    const write = makeWriting(sql)
    const together = makeTogether(sql, taking, write)
    const oneByOne = makeOneByOne(sql, taking, write)

    /** Whatever it is that cannot be worked, it is found by working them one by one. */
    const apart = (keys: ReadonlyArray<IssueKey>) => (cause: Cause.Cause<unknown>) =>
      isOutage(Cause.squash(cause))
        ? Effect.failCause(cause)
        : Effect.as(Effect.logDebug("Webhooks could not be worked together", cause), {
            results: [],
            left: [],
            busy: [],
            billed: keys
          } satisfies Rest)

    return {
      /**
       * Works off what waits for issues, for each in the order it happened. Tells what came of the webhooks, and of which
       * issues there is more, left over or in the hands of another worker.
       */
      workOff: (keys: ReadonlyArray<IssueKey>) =>
        Effect.gen(function* () {
          const { billed, busy, left, results } = yield* Effect.catchAllCause(together(keys), apart(keys))
          const single = yield* Effect.forEach(billed, (key) => Effect.map(oneByOne(key), (rest) => ({ key, ...rest })))
          return {
            results: [...results, ...single.flatMap((one) => one.results)],
            left: [...left, ...single.filter(({ isLeft }) => isLeft).map(({ key }) => key)],
            busy: [...busy, ...single.filter(({ isBusy }) => isBusy).map(({ key }) => key)]
          }
        }).pipe(Effect.orDie),

      /** The issues that these webhooks are about, as far as they still wait and somebody is at work on them. */
      issuesOf: (keys: ReadonlyArray<Omit<InboundKey, "integration">>) =>
        Effect.orDie(sql<IssueKey & { readonly id: string }>`
          select w.id, w.tenant_id as tenant, w.integration_id as integration, w.issue_id as issue
          from json_to_recordset(${JSON.stringify(keys)}::json) as given (tenant text, id text)
          join inbound_webhooks w on w.tenant_id = given.tenant and w.id = given.id and w.status = 'RECEIVED'
          join integrations i on i.tenant_id = w.tenant_id and i.id = w.integration_id and i.status = 'ACTIVE'`),

      /** Issues that something has waited for longer than the broker should take to bring it. */
      forgotten: (most: number) =>
        Effect.orDie(sql<IssueKey>`
          select waiting.tenant_id as tenant, waiting.integration_id as integration, waiting.issue_id as issue
          from integrations i join tenants t on t.id = i.tenant_id and t.deleted_at is null
          cross join lateral (
            select distinct w.tenant_id, w.integration_id, w.issue_id from inbound_webhooks w
            where w.tenant_id = i.tenant_id and w.integration_id = i.id and w.status = 'RECEIVED'
              and greatest(w.received_at, w.processed_at)
                < now() - make_interval(secs => ${graceSeconds}::integer * (1 + w.attempts * w.attempts))
            limit ${most}
          ) waiting
          where i.provider = 'JIRA' and i.status = 'ACTIVE'
          order by random() limit ${most}`)
    }
  })
}) {}
