import { setTimeout as pause } from "node:timers/promises"

export type PrintLine = (line: string) => void

/** Runs a step and prints its result in one line. */
export const makeStep =
  (printLine: PrintLine) =>
  async <A>(name: string, work: () => Promise<A>, describe: (result: A) => string): Promise<A> => {
    const startedAt = Date.now()
    const print = (mark: string, text: string) =>
      printLine(`${mark} ${name.padEnd(9)} ${text} (${((Date.now() - startedAt) / 1000).toFixed(1)} s)`)
    try {
      const result = await work()
      print("✓", describe(result))
      return result
    } catch (error) {
      print("✗", "failed")
      throw error
    }
  }

export type Step = ReturnType<typeof makeStep>

/** Polls until there is a result; fails after the timeout. */
export const pollUntil = async <A>(
  condition: string,
  seconds: number,
  poll: () => Promise<A | undefined>
): Promise<A> => {
  const deadline = Date.now() + seconds * 1000
  for (;;) {
    const result = await poll()
    if (result !== undefined) return result
    if (Date.now() > deadline) throw new Error(`Not within ${seconds} s: ${condition}`)
    await pause(100)
  }
}
