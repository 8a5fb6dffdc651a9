import { Effect } from "effect"
import { type EventKey, FanOut } from "../../layers/delivery/FanOut.ts"

interface Walk {
  readonly after: { readonly resource: string; readonly sequence: number }
  /** Events may have come to lie behind it: it starts over at its end. */
  readonly isStale: boolean
}

const start = { resource: "", sequence: 0 }

const maxTenants = 500

/**
 * Tenants with events that wait in the database and that no message in this process stands for: more came than their
 * queue takes, or they failed, or the broker lost them. Their events are read page by page, resource by resource.
 */
export const makeBacklog = Effect.map(FanOut, (ledger) => {
  const walks = new Map<string, Walk>()
  let lastTenant = ""

  const note = (tenant: string) => {
    const walk = walks.get(tenant)
    walks.set(tenant, walk === undefined ? { after: start, isStale: false } : { ...walk, isStale: true })
  }

  return {
    note,

    /** Notes who has anything waiting, the next tenants each time. */
    sweep: Effect.map(
      Effect.suspend(() => ledger.tenantsWaiting(lastTenant, maxTenants)),
      (found) => {
        lastTenant = found.length < maxTenants ? "" : (found.at(-1)?.tenant ?? "")
        for (const { tenant } of found) note(tenant)
      }
    ),

    /** The next events of the first tenant that may have some read. */
    next: (max: number, mayRead: (tenant: string) => boolean): Effect.Effect<ReadonlyArray<EventKey>> =>
      Effect.gen(function* () {
        const found = [...walks].find(([tenant]) => mayRead(tenant))
        if (found === undefined) return []
        const [tenant, walk] = found
        walks.delete(tenant)
        const page = yield* Effect.onError(ledger.waiting(tenant, walk.after, max), () =>
          Effect.sync(() => note(tenant))
        )
        const last = page.length < max ? undefined : page.at(-1)
        if (last !== undefined) walks.set(tenant, { after: last, isStale: walk.isStale || walks.has(tenant) })
        else if (walk.isStale) note(tenant)
        return page
      })
  }
})
