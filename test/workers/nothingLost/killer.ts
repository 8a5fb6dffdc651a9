import { setTimeout as pause } from "node:timers/promises"

/** Kills what has this name, and starts it again after a while. */
export interface Target {
  readonly name: string
  readonly line: string
  readonly kill: (downMillis: number) => Promise<void>
}

const longestDownMillis = 1200

const shuffled = <A>(items: ReadonlyArray<A>) =>
  items
    .map((item) => ({ item, place: Math.random() }))
    .sort((one, other) => one.place - other.place)
    .map(({ item }) => item)

/** One at a time of those that share a line, so that only what is up is killed; others may well be down together. */
const makeLines = () => {
  const lines = new Map<string, Promise<void>>()
  return ({ kill, line }: Target) => {
    const done = (lines.get(line) ?? Promise.resolve()).then(() => kill(Math.random() * longestDownMillis))
    // Whoever waits for it hears of its failure; the line itself only waits.
    lines.set(
      line,
      done.catch(() => {})
    )
    return done
  }
}

interface Plan {
  readonly targets: ReadonlyArray<Target>
  /** How often each is killed. */
  readonly rounds: number
  /** What happens once, half way. */
  readonly once: Target
}

/** Kills in an order and at times nobody knows, spread over the progress of the work until `share` of it is 1. */
export const killAtRandom = ({ once, rounds, targets }: Plan, share: () => number) => {
  const kills = new Map<string, number>()
  const inLine = makeLines()
  let isStopped = false
  const order = Array.from({ length: rounds }, () => shuffled(targets)).flat()
  order.splice(Math.floor(order.length / 2), 0, once)

  const strike = async (target: Target) => {
    await inLine(target)
    kills.set(target.name, (kills.get(target.name) ?? 0) + 1)
  }

  const work = async () => {
    const struck: Array<Promise<void>> = []
    for (const [n, target] of order.entries()) {
      const moment = (n + Math.random()) / order.length
      while (!isStopped && share() < Math.min(moment, 0.98)) await pause(20)
      if (isStopped) break
      const one = strike(target)
      one.catch(() => {}) // told below, when all have been struck
      struck.push(one)
    }
    await Promise.all(struck)
  }
  const done = work()
  return {
    kills,
    done,
    stop: () => {
      isStopped = true
      return done
    }
  }
}
