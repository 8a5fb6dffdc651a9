import { Effect } from "effect"

/** Each round starts with another item and reverses the order, so that no item always follows the same one. */
export const rotate = <A>(items: ReadonlyArray<A>, round: number) => {
  const offset = round % items.length
  const shifted = [...items.slice(offset), ...items.slice(0, offset)]
  return round % 2 === 0 ? shifted : shifted.toReversed()
}

/** Alternates the items round by round, so that a disturbance of the machine affects all alike. */
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
