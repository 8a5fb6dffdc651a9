import { Duration, Effect } from "effect"

interface Loop {
  readonly name: string
  readonly stalledAfterMs: number
  /** When the current round began. */
  begunAt: number
  hasFailed: boolean
}

export interface LoopState {
  readonly name: string
  /** FAILING: its last round failed, and it retries. STALLED: its current round takes longer than any should. */
  readonly state: "OK" | "FAILING" | "STALLED"
}

const stateOf = ({ begunAt, hasFailed, stalledAfterMs }: Loop, now: number): LoopState["state"] => {
  if (now - begunAt > stalledAfterMs) return "STALLED"
  return hasFailed ? "FAILING" : "OK"
}

/** The loops of a worker and their progress, which its health checks report. */
export class Loops extends Effect.Service<Loops>()("layers/Loops", {
  sync: () => {
    const loops: Array<Loop> = []
    return {
      add: (name: string, stalledAfter: Duration.DurationInput) => {
        const loop = { name, stalledAfterMs: Duration.toMillis(stalledAfter), begunAt: Date.now(), hasFailed: false }
        loops.push(loop)
        return {
          endRound: (hasFailed: boolean) => {
            loop.hasFailed = hasFailed
            loop.begunAt = Date.now()
          }
        }
      },

      states: (now = Date.now()): ReadonlyArray<LoopState> =>
        loops.map((loop) => ({ name: loop.name, state: stateOf(loop, now) }))
    }
  }
}) {}
