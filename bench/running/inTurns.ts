import { Effect } from "effect"

/** Each round begins with another of them, and goes the other way round: none always follows the same neighbour. */
export const rotated = <A>(items: ReadonlyArray<A>, round: number) => {
  const by = round % items.length
  const turned = [...items.slice(by), ...items.slice(0, by)]
  return round % 2 === 0 ? turned : turned.toReversed()
}

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
