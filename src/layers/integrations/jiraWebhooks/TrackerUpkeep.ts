import { Clock, Effect } from "effect"
import { Settings } from "../../config/Settings.ts"
import { TrackerAway, TrackerRefusal } from "../../jira/Answers.ts"
import { trackerOver } from "../../jira/Tracker.ts"
import { makeId } from "../../postgres/Ids.ts"
import { withoutSlash } from "../../providerHttp/Calls.ts"
import { Grants } from "../authorization/Grants.ts"
import { openSession } from "../authorization/Session.ts"
import { Integrations } from "../Integrations.ts"
import { makeMemory } from "./Memory.ts"
import { filterOf, makeRegistering, type Post } from "./Registering.ts"
import { makeTending, type Task, taskOf } from "./Tending.ts"
import { type Connected, TrackerWebhooks } from "./TrackerWebhooks.ts"

const maxRejections = 3
const maxConcurrent = 8

/** Well below the lease term, so that no other process starts the same work. */
const timeout = "45 seconds"

const noSite = new TrackerRefusal({ message: "The authorization names no site of the tracker: authorize it again" })

/** Reconciles the webhooks registered in Jira with the authorized Jira integrations. A lease admits one process. */
export class TrackerUpkeep extends Effect.Service<TrackerUpkeep>()("layers/JiraWebhookReconciler", {
  dependencies: [TrackerWebhooks.Default, Grants.Default, Integrations.Default],
  effect: Effect.gen(function* () {
    const { JIRA_API_URL, PUBLIC_URL } = yield* Settings
    const api = withoutSlash(JIRA_API_URL)
    const webhooks = yield* TrackerWebhooks
    const grants = yield* Grants
    const integrations = yield* Integrations
    const backoff = makeMemory()
    const holder = makeId("upkeep")
    const urlOf = (key: string) => `${withoutSlash(PUBLIC_URL ?? "")}/api/v1/webhooks/${key}`
    const runTask = makeTending(webhooks, makeRegistering(webhooks, urlOf))

    const performTask = (task: Task, state: Post, now: number) =>
      Effect.gen(function* () {
        const { integration, tenant } = state.of
        const session = yield* Effect.provideService(openSession(tenant, integration), Grants, grants)
        yield* runTask(task, trackerOver(session, api, state.site), state, now)
      }).pipe(
        Effect.timeoutFail({
          duration: timeout,
          onTimeout: () => new TrackerAway({ message: "The tracker took too long" })
        })
      )

    const handleRejection = ({ integration, tenant }: Connected, { message }: TrackerRefusal) => {
      if (backoff.noteRefusal(integration) < maxRejections)
        return Effect.logInfo(`Integration ${integration}: ${message}`)
      backoff.forget(integration)
      return integrations.fail(tenant, integration, `Its webhook cannot be kept: ${message}`)
    }

    const handleOutage = ({ integration }: Connected, message: string, now: number) =>
      Effect.zipRight(
        Effect.sync(() => backoff.noteAbsence(integration, now)),
        Effect.logInfo(`Integration ${integration}: ${message}`)
      )

    const loadDue = (connection: Connected, now: number) =>
      Effect.map(webhooks.keptOf(connection), (kept) => {
        const state: Post = { of: connection, site: connection.site ?? "", kept }
        return { state, task: taskOf(state, now, backoff.isLookDue(connection.integration, filterOf(connection), now)) }
      })

    const reconcileOne = (connection: Connected, now: number) =>
      Effect.gen(function* () {
        const filter = filterOf(connection)
        if ((yield* loadDue(connection, now)).task === "none" || !(yield* webhooks.lead(holder))) return
        // Read again under the lease: the previous leader may have done it meanwhile.
        const { state, task } = yield* loadDue(connection, now)
        if (task === "none") return
        yield* connection.site === null ? Effect.fail(noSite) : performTask(task, state, now)
        backoff.noteWell(connection.integration, filter, now)
      }).pipe(
        Effect.catchTags({
          GrantLost: () => Effect.sync(() => backoff.forget(connection.integration)),
          JiraRejection: (rejection) => handleRejection(connection, rejection),
          JiraUnavailable: ({ message }) => handleOutage(connection, message, now),
          NoResponse: ({ message }) => handleOutage(connection, message, now),
          ProviderAway: ({ message }) => handleOutage(connection, message, now)
        }),
        Effect.catchAllCause((cause) =>
          Effect.logWarning(`Integration ${connection.integration}: webhook reconciliation failed`, cause)
        )
      )

    const reconcileEach = (all: ReadonlyArray<Connected>, now: number) =>
      Effect.forEach(all, (one) => reconcileOne(one, now), { concurrency: maxConcurrent, discard: true })

    return {
      /** Runs the due task of every integration, unless another process has the lease. */
      round: Effect.gen(function* () {
        if (PUBLIC_URL === undefined || !(yield* webhooks.lead(holder))) return
        const all = yield* webhooks.connected
        const now = yield* Clock.currentTimeMillis
        backoff.keepOnly(new Set(all.map(({ integration }) => integration)))
        yield* reconcileEach(
          all.filter(({ integration }) => !backoff.rests(integration, now)),
          now
        )
      }),

      /** Registers newly authorized integrations only, so that they do not wait for the next full round. */
      greet: Effect.gen(function* () {
        if (PUBLIC_URL === undefined) return
        const all = yield* webhooks.unregistered
        yield* reconcileEach(
          all.filter(({ integration }) => backoff.isFirstSight(integration)),
          yield* Clock.currentTimeMillis
        )
      }),

      resign: webhooks.resign(holder)
    }
  })
}) {}
