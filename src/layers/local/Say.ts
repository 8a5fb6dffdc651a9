import { Clock, Console, Effect, Fiber, Schedule } from "effect"

const terminal = process.stdout.isTTY
const eraseLine = "\r\x1b[2K"

/** One line for the person at the console; wipes a progress line that stands there. */
export const say = (line: string) => Console.log(terminal ? `${eraseLine}${line}` : line)

export const inSeconds = (millis: number) => `${(millis / 1000).toFixed(1)} s`

const since = (began: number) => Effect.map(Clock.currentTimeMillis, (now) => inSeconds(now - began))

const counting = (label: string, began: number) =>
  since(began).pipe(
    Effect.map((elapsed) => process.stdout.write(`${eraseLine}… ${label} (${elapsed})`)),
    Effect.repeat(Schedule.spaced("100 millis"))
  )

const announcing = (label: string) => Effect.zipRight(Effect.sleep("2 seconds"), say(`… ${label}`))

/** Work with a line about it: counting on a terminal, announced elsewhere when it is slow, and said when it is done. */
export const step = <A, E, R>(label: string, work: Effect.Effect<A, E, R>, done: (result: A) => string) =>
  Effect.gen(function* () {
    const began = yield* Clock.currentTimeMillis
    const progress = yield* Effect.fork(terminal ? counting(label, began) : announcing(label))
    const result = yield* Effect.ensuring(work, Fiber.interrupt(progress))
    yield* say(`✓ ${done(result)} (${yield* since(began)})`)
    return result
  })
