const minute = 60_000
const lookEvery = 24 * 60 * minute
const longestRest = 60 * minute

interface Entry {
  readonly refusals: number
  readonly absences: number
  readonly restUntil: number
  readonly lookedAt: number
  readonly filter: string | undefined
}

const blank: Entry = { refusals: 0, absences: 0, restUntil: 0, lookedAt: 0, filter: undefined }

/** What one process remembers of integrations: how they fared, and when they were last looked at. */
export const makeMemory = () => {
  const entries = new Map<string, Entry>()
  const of = (id: string) => entries.get(id) ?? blank
  const note = (id: string, news: Partial<Entry>) => {
    const entry = { ...of(id), ...news }
    entries.set(id, entry)
    return entry
  }

  return {
    /** True the first time only, whatever comes of it then. */
    isFirstSight: (id: string) => {
      const isKnown = entries.has(id)
      note(id, {})
      return !isKnown
    },

    rests: (id: string, now: number) => of(id).restUntil > now,

    /** Once a day, and as soon as somebody wants to hear of other issues. */
    isLookDue: (id: string, filter: string, now: number) =>
      now - of(id).lookedAt >= lookEvery || of(id).filter !== filter,

    /** All is well, as the tracker itself says. */
    noteWell: (id: string, filter: string, now: number) =>
      note(id, { refusals: 0, absences: 0, restUntil: 0, lookedAt: now, filter }),

    /** Tells how often it was refused in a row. */
    noteRefusal: (id: string) => note(id, { refusals: of(id).refusals + 1 }).refusals,

    /** A tracker that is away is asked less and less often. */
    noteAbsence: (id: string, now: number) => {
      const absences = of(id).absences + 1
      note(id, { absences, restUntil: now + Math.min(2 ** (absences - 1) * minute, longestRest) })
    },

    forget: (id: string) => void entries.delete(id),

    keepOnly: (ids: ReadonlySet<string>) => {
      for (const id of entries.keys()) if (!ids.has(id)) entries.delete(id)
    }
  }
}
