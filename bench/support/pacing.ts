/**
 * Begins something so often in a second, evenly and whatever becomes of it; ends when all of it has. Each is told when it
 * was due, which is what it counts from: it may be begun late because the machine is busy with others.
 */
export const runAtRate = async (perSecond: number, seconds: number, start: (dueCount: number) => Promise<unknown>) => {
  const total = perSecond * seconds
  const startedAt = performance.now()
  const tasks: Array<Promise<unknown>> = []
  while (tasks.length < total) {
    const dueCount = Math.min(total, Math.floor(((performance.now() - startedAt) / 1000) * perSecond) + 1)
    while (tasks.length < dueCount) {
      const task = start(startedAt + (tasks.length * 1000) / perSecond)
      task.catch(() => {}) // it is told at the end, where all are waited for
      tasks.push(task)
    }
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
  const elapsedSeconds = (performance.now() - startedAt) / 1000
  await Promise.all(tasks)
  return { count: total, perSecond: total / Math.max(elapsedSeconds, seconds) }
}

/** Does something so often, as many at once. */
export const runConcurrently = async (total: number, concurrency: number, work: (n: number) => Promise<unknown>) => {
  let next = 0
  const runNext = async () => {
    while (next < total) await work(next++)
  }
  await Promise.all(Array.from({ length: concurrency }, runNext))
}

/** How often a second something is done, as many at once. */
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
