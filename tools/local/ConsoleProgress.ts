import { Clock, Console, Effect, Fiber, Schedule } from "effect"

const isTerminal = process.stdout.isTTY
const eraseLine = "\r\x1b[2K"

/** Prints a line to the console. On a terminal it replaces the progress line. */
export const printLine = (line: string) => Console.log(isTerminal ? `${eraseLine}${line}` : line)

export const formatSeconds = (millis: number) => `${(millis / 1000).toFixed(1)} s`

const elapsedSince = (startedAt: number) => Effect.map(Clock.currentTimeMillis, (now) => formatSeconds(now - startedAt))

const showTimer = (label: string, startedAt: number) =>
  elapsedSince(startedAt).pipe(
    Effect.map((elapsed) => process.stdout.write(`${eraseLine}… ${label} (${elapsed})`)),
    Effect.repeat(Schedule.spaced("100 millis"))
  )

const announceSlow = (label: string) => Effect.zipRight(Effect.sleep("2 seconds"), printLine(`… ${label}`))

/**
 * Runs work and prints its progress: a running timer on a terminal, elsewhere a line when it is slow; then a line when
 * it is done.
 */
export const withProgress = <A, E, R>(label: string, work: Effect.Effect<A, E, R>, done: (result: A) => string) =>
  Effect.gen(function* () {
    const startedAt = yield* Clock.currentTimeMillis
    const progress = yield* Effect.fork(isTerminal ? showTimer(label, startedAt) : announceSlow(label))
    const result = yield* Effect.ensuring(work, Fiber.interrupt(progress))
    yield* printLine(`✓ ${done(result)} (${yield* elapsedSince(startedAt)})`)
    return result
  })
