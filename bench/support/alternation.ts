import { Effect } from "effect"

/** Each round begins with another of them, and goes the other way round: none always follows the same neighbour. */
export const rotate = <A>(items: ReadonlyArray<A>, round: number) => {
  const offset = round % items.length
  const shifted = [...items.slice(offset), ...items.slice(0, offset)]
  return round % 2 === 0 ? shifted : shifted.toReversed()
}

/** Does something with each of them, round by round: what disturbs the machine for a while disturbs all alike. */
export const alternate = <A, B, E, R>(
  items: ReadonlyArray<A>,
  rounds: number,
  work: (item: A, round: number) => Effect.Effect<B, E, R>
) =>
  Effect.map(
    Effect.forEach(Array.from({ length: rounds }), (_, round) =>
      Effect.forEach(rotate(items, round), (item) => work(item, round + 1))
    ),
    (results) => results.flat()
  )
