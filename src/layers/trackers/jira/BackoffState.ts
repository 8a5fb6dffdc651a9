const minuteMs = 60_000
const verificationIntervalMs = 24 * 60 * minuteMs
const maxBackoffMs = 60 * minuteMs

interface Entry {
  readonly rejections: number
  readonly outages: number
  readonly backoffUntil: number
  readonly verifiedAt: number
  readonly filter: string | undefined
}

const initialEntry: Entry = { rejections: 0, outages: 0, backoffUntil: 0, verifiedAt: 0, filter: undefined }

/** In-memory backoff state per integration: consecutive failures, backoff, last verification. Lost on restart. */
export const makeBackoffState = () => {
  const entries = new Map<string, Entry>()
  const entryOf = (id: string) => entries.get(id) ?? initialEntry
  const update = (id: string, changes: Partial<Entry>) => {
    const entry = { ...entryOf(id), ...changes }
    entries.set(id, entry)
    return entry
  }

  return {
    /** Returns true on the first call for an id only, whether its registration succeeds or not. */
    markFirstSeen: (id: string) => {
      const isKnown = entries.has(id)
      update(id, {})
      return !isKnown
    },

    isBackingOff: (id: string, now: number) => entryOf(id).backoffUntil > now,

    /** Due once a day, and at once after a change of the JQL filter. */
    isVerificationDue: (id: string, filter: string, now: number) =>
      now - entryOf(id).verifiedAt >= verificationIntervalMs || entryOf(id).filter !== filter,

    /** Resets failures and backoff after Jira confirmed the registration. */
    recordSuccess: (id: string, filter: string, now: number) =>
      update(id, { rejections: 0, outages: 0, backoffUntil: 0, verifiedAt: now, filter }),

    /** Returns the number of consecutive rejections. */
    recordRejection: (id: string) => update(id, { rejections: entryOf(id).rejections + 1 }).rejections,

    /** Doubles the backoff with each consecutive outage. */
    recordOutage: (id: string, now: number) => {
      const outages = entryOf(id).outages + 1
      update(id, { outages, backoffUntil: now + Math.min(2 ** (outages - 1) * minuteMs, maxBackoffMs) })
    },

    forget: (id: string) => void entries.delete(id),

    retainOnly: (ids: ReadonlySet<string>) => {
      for (const id of entries.keys()) if (!ids.has(id)) entries.delete(id)
    }
  }
}
