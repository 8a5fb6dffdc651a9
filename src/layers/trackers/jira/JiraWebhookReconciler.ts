import { Clock, Effect } from "effect"
import { Settings } from "../../infra/config/Settings.ts"
import { JiraRejection, JiraUnavailable } from "../../infra/jira/JiraResponses.ts"
import { makeJiraWebhookClient } from "../../infra/jira/JiraWebhookClient.ts"
import { makeId } from "../../infra/postgres/IdGenerator.ts"
import { trimTrailingSlashes } from "../../infra/providerHttp/ProviderRequest.ts"
import { withSpans } from "../../infra/telemetry/UseCaseSpans.ts"
import { Grants } from "../../integrations/authorization/Grants.ts"
import { openProviderSession } from "../../integrations/authorization/ProviderSession.ts"
import { Integrations } from "../../integrations/Integrations.ts"
import { makeBackoffState } from "./BackoffState.ts"
import { type JiraWebhookState, jqlFilterOf, makeJiraWebhookRegistration } from "./JiraWebhookRegistration.ts"
import { dueTaskOf, type JiraWebhookTask, makeJiraWebhookRenewal } from "./JiraWebhookRenewal.ts"
import { type JiraConnection, JiraWebhooks } from "./JiraWebhooks.ts"

const maxRejections = 3
const maxConcurrent = 8

/** Well below the lease term, so that no other process starts the same work. */
const timeout = "45 seconds"

const noSite = new JiraRejection({ message: "The authorization has no Jira site: authorize again" })

/** Reconciles the webhooks registered in Jira with the authorized Jira integrations. A lease admits one process. */
export class JiraWebhookReconciler extends Effect.Service<JiraWebhookReconciler>()("layers/JiraWebhookReconciler", {
  dependencies: [JiraWebhooks.Default, Grants.Default, Integrations.Default],
  effect: Effect.gen(function* () {
    const { JIRA_API_URL, PUBLIC_URL } = yield* Settings
    const api = trimTrailingSlashes(JIRA_API_URL)
    const webhooks = yield* JiraWebhooks
    const grants = yield* Grants
    const integrations = yield* Integrations
    const backoff = makeBackoffState()
    const holder = makeId("upkeep")
    const urlOf = (key: string) => `${trimTrailingSlashes(PUBLIC_URL ?? "")}/api/v1/webhooks/${key}`
    const runTask = makeJiraWebhookRenewal(webhooks, makeJiraWebhookRegistration(webhooks, urlOf))

    const performTask = (task: JiraWebhookTask, state: JiraWebhookState, now: number) =>
      Effect.gen(function* () {
        const { integration, tenant } = state.connection
        const session = yield* Effect.provideService(openProviderSession(tenant, integration), Grants, grants)
        yield* runTask(task, makeJiraWebhookClient(session, api, state.site), state, now)
      }).pipe(
        Effect.timeoutFail({
          duration: timeout,
          onTimeout: () => new JiraUnavailable({ message: "Jira did not answer in time" })
        })
      )

    const handleRejection = ({ integration, tenant }: JiraConnection, { message }: JiraRejection) => {
      if (backoff.recordRejection(integration) < maxRejections)
        return Effect.logInfo(`Integration ${integration}: ${message}`)
      backoff.forget(integration)
      return integrations.fail(tenant, integration, `Its webhook cannot be kept: ${message}`)
    }

    const handleOutage = ({ integration }: JiraConnection, message: string, now: number) =>
      Effect.zipRight(
        Effect.sync(() => backoff.recordOutage(integration, now)),
        Effect.logInfo(`Integration ${integration}: ${message}`)
      )

    const loadDue = (connection: JiraConnection, now: number) =>
      Effect.map(webhooks.listRegistered(connection), (registrations) => {
        const state: JiraWebhookState = {
          connection,
          site: connection.site ?? "",
          registrations
        }
        return {
          state,
          task: dueTaskOf(state, now, backoff.isVerificationDue(connection.integration, jqlFilterOf(connection), now))
        }
      })

    const reconcileOne = (connection: JiraConnection, now: number) =>
      Effect.gen(function* () {
        const filter = jqlFilterOf(connection)
        if ((yield* loadDue(connection, now)).task === "none" || !(yield* webhooks.acquireLease(holder))) return
        // Read again under the lease: the previous leader may have done it meanwhile.
        const { state, task } = yield* loadDue(connection, now)
        if (task === "none") return
        yield* connection.site === null ? Effect.fail(noSite) : performTask(task, state, now)
        backoff.recordSuccess(connection.integration, filter, now)
      }).pipe(
        Effect.catchTags({
          GrantLost: () => Effect.sync(() => backoff.forget(connection.integration)),
          JiraRejection: (rejection) => handleRejection(connection, rejection),
          JiraUnavailable: ({ message }) => handleOutage(connection, message, now),
          NoResponse: ({ message }) => handleOutage(connection, message, now),
          ProviderUnavailable: ({ message }) => handleOutage(connection, message, now)
        }),
        Effect.catchAllCause((cause) =>
          Effect.logWarning(`Integration ${connection.integration}: webhook reconciliation failed`, cause)
        )
      )

    const reconcileEach = (all: ReadonlyArray<JiraConnection>, now: number) =>
      Effect.forEach(all, (one) => reconcileOne(one, now), { concurrency: maxConcurrent, discard: true })

    return {
      /** Runs the due task of every integration, unless another process has the lease. */
      reconcileAll: Effect.gen(function* () {
        if (PUBLIC_URL === undefined || !(yield* webhooks.acquireLease(holder))) return
        const all = yield* webhooks.listConnected
        const now = yield* Clock.currentTimeMillis
        backoff.retainOnly(new Set(all.map(({ integration }) => integration)))
        yield* reconcileEach(
          all.filter(({ integration }) => !backoff.isBackingOff(integration, now)),
          now
        )
      }),

      /** Registers newly authorized integrations only, so that they do not wait for the next full round. */
      registerNew: Effect.gen(function* () {
        if (PUBLIC_URL === undefined) return
        const all = yield* webhooks.listUnregistered
        yield* reconcileEach(
          all.filter(({ integration }) => backoff.markFirstSeen(integration)),
          yield* Clock.currentTimeMillis
        )
      }),

      releaseLease: webhooks.releaseLease(holder)
    }
  }).pipe(withSpans("JiraWebhookReconciler"))
}) {}
