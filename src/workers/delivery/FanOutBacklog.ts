import { Effect } from "effect"
import { type EventKey, FanOut } from "../../layers/delivery/FanOut.ts"

interface Scan {
  readonly after: { readonly resource: string; readonly sequence: number }
  /** New events may precede the cursor, so the scan starts again after its last page. */
  readonly isStale: boolean
}

const scanStart = { resource: "", sequence: 0 }

const maxTenants = 500

/**
 * Tenants with pending events in the database that have no message in this process: their queue overflowed, their
 * fan-out failed, or the broker lost the messages. It reads their events in pages, ordered by resource.
 */
export const makeFanOutBacklog = Effect.map(FanOut, (store) => {
  const scans = new Map<string, Scan>()
  let lastTenant = ""

  const addTenant = (tenant: string) => {
    const scan = scans.get(tenant)
    scans.set(tenant, scan === undefined ? { after: scanStart, isStale: false } : { ...scan, isStale: true })
  }

  return {
    addTenant,

    /** Adds the next page of tenants with pending events. */
    scanTenants: Effect.map(
      Effect.suspend(() => store.listWaitingTenants(lastTenant, maxTenants)),
      (found) => {
        lastTenant = found.length < maxTenants ? "" : (found.at(-1)?.tenant ?? "")
        for (const { tenant } of found) addTenant(tenant)
      }
    ),

    /** Reads the next page of events of the first eligible tenant. */
    nextPage: (max: number, canRead: (tenant: string) => boolean): Effect.Effect<ReadonlyArray<EventKey>> =>
      Effect.gen(function* () {
        const found = [...scans].find(([tenant]) => canRead(tenant))
        if (found === undefined) return []
        const [tenant, scan] = found
        scans.delete(tenant)
        const page = yield* Effect.onError(store.listWaiting(tenant, scan.after, max), () =>
          Effect.sync(() => addTenant(tenant))
        )
        const last = page.length < max ? undefined : page.at(-1)
        if (last !== undefined) scans.set(tenant, { after: last, isStale: scan.isStale || scans.has(tenant) })
        else if (scan.isStale) addTenant(tenant)
        return page
      })
  }
})
