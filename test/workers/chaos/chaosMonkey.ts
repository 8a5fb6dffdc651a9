import { setTimeout as pause } from "node:timers/promises"

/** A process or server that `kill` kills and starts again after a downtime. */
export interface Target {
  readonly name: string
  /** Targets with the same key are killed one after the other, because only a running one can be killed. */
  readonly key: string
  readonly kill: (downMillis: number) => Promise<void>
}

const maxDownMillis = 1200

const shuffle = <A>(items: ReadonlyArray<A>) =>
  items
    .map((item) => ({ item, place: Math.random() }))
    .sort((one, other) => one.place - other.place)
    .map(({ item }) => item)

/** Kills targets with the same key one after the other; targets with different keys may be down together. */
const makeSerialKill = () => {
  const pending = new Map<string, Promise<void>>()
  return ({ key, kill }: Target) => {
    const done = (pending.get(key) ?? Promise.resolve()).then(() => kill(Math.random() * maxDownMillis))
    // The caller handles the failure; the next kill only waits for the end.
    pending.set(
      key,
      done.catch(() => {})
    )
    return done
  }
}

interface Plan {
  readonly targets: ReadonlyArray<Target>
  /** How often each target is killed. */
  readonly rounds: number
  /** Killed once, half way. */
  readonly once?: Target
}

/** Kills in random order and at random times, spread over the work's `progress` from 0 to 1. */
export const killAtRandom = ({ once, rounds, targets }: Plan, progress: () => number) => {
  const kills = new Map<string, number>()
  const killSerially = makeSerialKill()
  let isStopped = false
  const order = Array.from({ length: rounds }, () => shuffle(targets)).flat()
  if (once !== undefined) order.splice(Math.floor(order.length / 2), 0, once)

  const killAndCount = async (target: Target) => {
    await killSerially(target)
    kills.set(target.name, (kills.get(target.name) ?? 0) + 1)
  }

  const run = async () => {
    const started: Array<Promise<void>> = []
    for (const [n, target] of order.entries()) {
      const moment = (n + Math.random()) / order.length
      while (!isStopped && progress() < Math.min(moment, 0.98)) await pause(20)
      if (isStopped) break
      const kill = killAndCount(target)
      kill.catch(() => {}) // reported by Promise.all below
      started.push(kill)
    }
    await Promise.all(started)
  }
  const done = run()
  return {
    kills,
    done,
    stop: () => {
      isStopped = true
      return done
    }
  }
}
