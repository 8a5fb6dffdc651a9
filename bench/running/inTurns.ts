import { Effect } from "effect"

/** Each round begins with another of them, so that none always follows the same neighbour. */
export const rotated = <A>(items: ReadonlyArray<A>, by: number) => [
  ...items.slice(by % items.length),
  ...items.slice(0, by % items.length)
]

/** Does something with each of them, round by round: what disturbs the machine for a while disturbs all alike. */
export const inTurns = <A, B, E, R>(
  items: ReadonlyArray<A>,
  rounds: number,
  work: (item: A, round: number) => Effect.Effect<B, E, R>
) =>
  Effect.map(
    Effect.forEach(Array.from({ length: rounds }), (_, round) =>
      Effect.forEach(rotated(items, round), (item) => work(item, round + 1))
    ),
    (found) => found.flat()
  )
