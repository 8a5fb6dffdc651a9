/**
 * Begins something so often in a second, evenly and whatever becomes of it; ends when all of it has. Each is told when it
 * was due, which is what it counts from: it may be begun late because the machine is busy with others.
 */
export const steadily = async (perSecond: number, seconds: number, begin: (due: number) => Promise<unknown>) => {
  const total = perSecond * seconds
  const began = performance.now()
  const begun: Array<Promise<unknown>> = []
  while (begun.length < total) {
    const due = Math.min(total, Math.floor(((performance.now() - began) / 1000) * perSecond) + 1)
    while (begun.length < due) {
      const one = begin(began + (begun.length * 1000) / perSecond)
      one.catch(() => {}) // it is told at the end, where all are waited for
      begun.push(one)
    }
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
  const took = (performance.now() - began) / 1000
  await Promise.all(begun)
  return { count: total, perSecond: total / Math.max(took, seconds) }
}

/** Does something so often, as many at once. */
export const together = async (times: number, atOnce: number, work: (n: number) => Promise<unknown>) => {
  let next = 0
  const one = async () => {
    while (next < times) await work(next++)
  }
  await Promise.all(Array.from({ length: atOnce }, one))
}

/** How often a second something is done, as many at once. */
export const rateOf = async (seconds: number, atOnce: number, work: () => Promise<unknown>) => {
  const began = performance.now()
  let done = 0
  const one = async () => {
    while (performance.now() - began < seconds * 1000) {
      await work()
      done++
    }
  }
  await Promise.all(Array.from({ length: atOnce }, one))
  return done / ((performance.now() - began) / 1000)
}
