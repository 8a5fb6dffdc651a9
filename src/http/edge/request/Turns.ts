import { Effect } from "effect"
import { ServiceUnavailable } from "../../../domain/Errors.ts"
import { Settings } from "../../../layers/config/Settings.ts"

/** How long a request waits for others of its tenant. */
const patience = 5_000

/** The requests of one tenant: how many are at work, and who waits, first come first. */
class Line {
  readonly #share: number
  readonly #waiting = new Set<() => void>()
  #working = 0

  constructor(share: number) {
    this.#share = share
  }

  get isEmpty() {
    return this.#working === 0 && this.#waiting.size === 0
  }

  /** Takes a free place at once; tells whether there was one. */
  tryEnter() {
    if (this.#working >= this.#share) return false
    this.#working++
    return true
  }

  wait = Effect.async<void, ServiceUnavailable>((resume) => {
    const giveUp = setTimeout(() => {
      this.#waiting.delete(admit)
      resume(Effect.fail(new ServiceUnavailable()))
    }, patience)
    const admit = () => {
      clearTimeout(giveUp)
      resume(Effect.void)
    }
    this.#waiting.add(admit)
  })

  /** Hands the place to whoever has waited longest. */
  leave() {
    const [next] = this.#waiting
    if (next === undefined) this.#working--
    else {
      this.#waiting.delete(next)
      next()
    }
  }
}

/** Lets no tenant have the whole pool: whoever waits for a lock waits at the expense of its own tenant. */
export const makeTurns = Effect.map(Settings, ({ DATABASE_POOL }) => {
  const share = Math.max(1, Math.floor(DATABASE_POOL * 0.8))
  const lines = new Map<string, Line>()

  return <A, E, R>(tenant: string | undefined, work: Effect.Effect<A, E, R>) =>
    Effect.suspend((): Effect.Effect<A, E | ServiceUnavailable, R> => {
      if (tenant === undefined) return work
      const line = lines.get(tenant) ?? new Line(share)
      lines.set(tenant, line)
      const leave = Effect.sync(() => {
        line.leave()
        if (line.isEmpty) lines.delete(tenant)
      })
      const working = Effect.ensuring(work, leave)
      return line.tryEnter() ? working : Effect.zipRight(line.wait, working)
    })
})
