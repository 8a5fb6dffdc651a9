import { setTimeout as pause } from "node:timers/promises"

export type Say = (line: string) => void

/** Does something, and says what came of it in a line. */
export const makeStep =
  (say: Say) =>
  async <A>(name: string, work: () => Promise<A>, told: (result: A) => string): Promise<A> => {
    const began = Date.now()
    const tell = (mark: string, words: string) =>
      say(`${mark} ${name.padEnd(9)} ${words} (${((Date.now() - began) / 1000).toFixed(1)} s)`)
    try {
      const result = await work()
      tell("✓", told(result))
      return result
    } catch (error) {
      tell("✗", "failed")
      throw error
    }
  }

export type Step = ReturnType<typeof makeStep>

/** Asks again and again until there is an answer, or it took too long. */
export const until = async <A>(what: string, seconds: number, ask: () => Promise<A | undefined>): Promise<A> => {
  const end = Date.now() + seconds * 1000
  for (;;) {
    const answer = await ask()
    if (answer !== undefined) return answer
    if (Date.now() > end) throw new Error(`Not within ${seconds} s: ${what}`)
    await pause(100)
  }
}
