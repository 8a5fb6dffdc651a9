import * as SqlClient from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import { Array as Arrays, Cause, Effect } from "effect"
import type { InboundKey } from "../nats/InboundStream.ts"
import { isConnectionBroken } from "../postgres/connection/Outage.ts"
import type { IssueKey } from "./intake/IssueKey.ts"
import { makeOneByOne } from "./intake/OneByOne.ts"
import { makeTaking } from "./intake/Taking.ts"
import { makeTogether, type Rest } from "./intake/Together.ts"
import { makeWriting } from "./intake/Writing.ts"

/** What the broker brings is left to it for so long; what failed waits longer each time. */
const graceSeconds = 2

/** Of one integration, what is looked for at a time and how many webhooks are looked at for it. */
const maxForgottenEach = 50
const maxLookedAt = 1000

/** After a failure a tenant waits for no other, unless for one of two. */
const maxTenantsAtOnce = 2

const merge = (rests: ReadonlyArray<Rest>): Rest => ({
  results: rests.flatMap(({ results }) => results),
  left: rests.flatMap(({ left }) => left),
  busy: rests.flatMap(({ busy }) => busy),
  billed: rests.flatMap(({ billed }) => billed)
})

/** Works webhooks off, issue by issue, each with its effects in one transaction. */
export class Intake extends Effect.Service<Intake>()("layers/Intake", {
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const taking = makeTaking(sql)
    const write = makeWriting(sql)
    const together = makeTogether(sql, taking, write)
    const oneByOne = makeOneByOne(sql, taking, write)

    /** Works issues together. If that fails, their tenants apart, then halves, until what fails is an issue alone. */
    const workTogether = (keys: ReadonlyArray<IssueKey>): Effect.Effect<Rest, SqlError> =>
      Effect.catchAllCause(together(keys), (cause) =>
        isConnectionBroken(Cause.squash(cause))
          ? Effect.failCause(cause)
          : Effect.zipRight(
              Effect.logDebug(`The webhooks of ${keys.length} issues could not be worked together`, cause),
              workApart(keys)
            )
      )

    const workApart = (keys: ReadonlyArray<IssueKey>): Effect.Effect<Rest, SqlError> => {
      if (keys.length === 1) return Effect.succeed({ results: [], left: [], busy: [], billed: keys })
      const tenants = Object.values(Arrays.groupBy(keys, ({ tenant }) => tenant))
      const half = Math.ceil(keys.length / 2)
      const worked =
        tenants.length > 1
          ? Effect.forEach(tenants, workTogether, { concurrency: maxTenantsAtOnce })
          : Effect.forEach([keys.slice(0, half), keys.slice(half)], workTogether)
      return Effect.map(worked, merge)
    }

    /** Whatever fails here is this issue's alone: others are not kept waiting, and it is tried again later. */
    const workAlone = (key: IssueKey) =>
      oneByOne(key).pipe(
        Effect.map(({ isBusy, isLeft, results }) => ({ key, results, isBusy, isLeft })),
        Effect.catchAllCause((cause) =>
          isConnectionBroken(Cause.squash(cause))
            ? Effect.failCause(cause)
            : Effect.as(Effect.logWarning(`The webhooks of issue ${key.issue} could not be worked`, cause), {
                key,
                results: [],
                isBusy: true,
                isLeft: false
              })
        )
      )

    return {
      /**
       * Works off what waits for issues, for each in the order it happened. Tells what came of the webhooks, and of which
       * issues there is more, left over or in the hands of another worker.
       */
      workOff: (keys: ReadonlyArray<IssueKey>) =>
        Effect.gen(function* () {
          const { billed, busy, left, results } = yield* workTogether(keys)
          const single = yield* Effect.forEach(billed, workAlone)
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

      /**
       * Issues that something has waited for longer than the broker should take to bring it: a few of each integration,
       * and the first of every tenant before the second of any.
       */
      forgotten: (max: number) =>
        Effect.orDie(sql<IssueKey>`
          select waiting.tenant_id as tenant, waiting.integration_id as integration, waiting.issue_id as issue
          from integrations i join tenants t on t.id = i.tenant_id and t.deleted_at is null
          cross join lateral (
            select distinct tenant_id, integration_id, issue_id from (
              select w.tenant_id, w.integration_id, w.issue_id from inbound_webhooks w
              where w.tenant_id = i.tenant_id and w.integration_id = i.id and w.status = 'RECEIVED'
                and greatest(w.received_at, w.processed_at)
                  < now() - make_interval(secs => ${graceSeconds}::integer * (1 + w.attempts * w.attempts))
              limit ${maxLookedAt}
            ) due
            limit ${maxForgottenEach}
          ) waiting
          where i.provider = 'JIRA' and i.status = 'ACTIVE'
          order by row_number() over (partition by waiting.tenant_id order by random()), random() limit ${max}`)
    }
  })
}) {}
