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

const mostRefusals = 3
const atOnce = 8

/** Much shorter than others wait before they take over. */
const patience = "45 seconds"

const noSite = new TrackerRefusal({ message: "The authorization names no site of the tracker: authorize it again" })

/** Sees to it that trackers tell us what happens, and go on telling us. */
export class TrackerUpkeep extends Effect.Service<TrackerUpkeep>()("layers/TrackerUpkeep", {
  dependencies: [TrackerWebhooks.Default, Grants.Default, Integrations.Default],
  effect: Effect.gen(function* () {
    const { JIRA_API_URL, PUBLIC_URL } = yield* Settings
    const api = withoutSlash(JIRA_API_URL)
    const webhooks = yield* TrackerWebhooks
    const grants = yield* Grants
    const integrations = yield* Integrations
    const memory = makeMemory()
    const holder = makeId("upkeep")
    const urlOf = (key: string) => `${withoutSlash(PUBLIC_URL ?? "")}/api/v1/webhooks/${key}`
    const tend = makeTending(webhooks, makeRegistering(webhooks, urlOf))

    const perform = (task: Task, post: Post, now: number) =>
      Effect.gen(function* () {
        const { integration, tenant } = post.of
        const session = yield* Effect.provideService(openSession(tenant, integration), Grants, grants)
        yield* tend(task, trackerOver(session, api, post.site), post, now)
      }).pipe(
        Effect.timeoutFail({
          duration: patience,
          onTimeout: () => new TrackerAway({ message: "The tracker took too long" })
        })
      )

    const refused = ({ integration, tenant }: Connected, { message }: TrackerRefusal) => {
      if (memory.noteRefusal(integration) < mostRefusals)
        return Effect.logInfo(`Integration ${integration}: ${message}`)
      memory.forget(integration)
      return integrations.fail(tenant, integration, `Its webhook cannot be kept: ${message}`)
    }

    const away = ({ integration }: Connected, message: string, now: number) =>
      Effect.zipRight(
        Effect.sync(() => memory.noteAbsence(integration, now)),
        Effect.logInfo(`Integration ${integration}: ${message}`)
      )

    const dueOf = (of: Connected, now: number) =>
      Effect.map(webhooks.keptOf(of), (kept) => {
        const post = { of, site: of.site ?? "", kept }
        return { post, task: taskOf(post, now, memory.isLookDue(of.integration, filterOf(of), now)) }
      })

    const lookAfter = (of: Connected, now: number) =>
      Effect.gen(function* () {
        const filter = filterOf(of)
        if ((yield* dueOf(of, now)).task === "nothing" || !(yield* webhooks.lead(holder))) return
        // Read once more: until just now another may have been at it.
        const { post, task } = yield* dueOf(of, now)
        if (task === "nothing") return
        yield* of.site === null ? Effect.fail(noSite) : perform(task, post, now)
        memory.noteWell(of.integration, filter, now)
      }).pipe(
        Effect.catchTags({
          GrantLost: () => Effect.sync(() => memory.forget(of.integration)),
          TrackerRefusal: (refusal) => refused(of, refusal),
          TrackerAway: ({ message }) => away(of, message, now),
          NoAnswer: ({ message }) => away(of, message, now),
          ProviderAway: ({ message }) => away(of, message, now)
        }),
        Effect.catchAllCause((cause) =>
          Effect.logWarning(`Integration ${of.integration} could not be looked after`, cause)
        )
      )

    const lookAfterEach = (all: ReadonlyArray<Connected>, now: number) =>
      Effect.forEach(all, (one) => lookAfter(one, now), { concurrency: atOnce, discard: true })

    return {
      /** Does what is due for every tracker, unless another copy does. */
      round: Effect.gen(function* () {
        if (PUBLIC_URL === undefined || !(yield* webhooks.lead(holder))) return
        const all = yield* webhooks.connected
        const now = yield* Clock.currentTimeMillis
        memory.keepOnly(new Set(all.map(({ integration }) => integration)))
        yield* lookAfterEach(
          all.filter(({ integration }) => !memory.rests(integration, now)),
          now
        )
      }),

      /** Does so for those alone who have come since, so that nobody who has just authorized us waits for a round. */
      greet: Effect.gen(function* () {
        if (PUBLIC_URL === undefined) return
        const all = yield* webhooks.unregistered
        yield* lookAfterEach(
          all.filter(({ integration }) => memory.isFirstSight(integration)),
          yield* Clock.currentTimeMillis
        )
      }),

      resign: webhooks.resign(holder)
    }
  })
}) {}
