/**
 * Starts work at a constant rate, whether or not earlier work is done, and waits for all of it. `start` receives the
 * time at which it was due: measure latency from it, because a busy machine starts work late.
 */
export const runAtRate = async (perSecond: number, seconds: number, start: (dueCount: number) => Promise<unknown>) => {
  const total = perSecond * seconds
  const startedAt = performance.now()
  const tasks: Array<Promise<unknown>> = []
  while (tasks.length < total) {
    const dueCount = Math.min(total, Math.floor(((performance.now() - startedAt) / 1000) * perSecond) + 1)
    while (tasks.length < dueCount) {
      const task = start(startedAt + (tasks.length * 1000) / perSecond)
      task.catch(() => {}) // reported by Promise.all below
      tasks.push(task)
    }
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
  const elapsedSeconds = (performance.now() - startedAt) / 1000
  await Promise.all(tasks)
  return { count: total, perSecond: total / Math.max(elapsedSeconds, seconds) }
}

/** Runs work `total` times with the given concurrency. */
export const runConcurrently = async (total: number, concurrency: number, work: (n: number) => Promise<unknown>) => {
  let next = 0
  const runNext = async () => {
    while (next < total) await work(next++)
  }
  await Promise.all(Array.from({ length: concurrency }, runNext))
}

/** Measures how often work completes per second with the given concurrency. */
export const measureRate = async (seconds: number, concurrency: number, work: () => Promise<unknown>) => {
  const startedAt = performance.now()
  let completed = 0
  const repeatWork = async () => {
    while (performance.now() - startedAt < seconds * 1000) {
      await work()
      completed++
    }
  }
  await Promise.all(Array.from({ length: concurrency }, repeatWork))
  return completed / ((performance.now() - startedAt) / 1000)
}
