/** Finds a resource among the existing ones, or makes it. */
export const ensure = async <A>(existing: ReadonlyArray<A>, isIt: (one: A) => boolean, make: () => Promise<A>) =>
  existing.find(isIt) ?? (await make())
