import { signal } from "@preact/signals"
import { ApiFailure, type Loaded } from "./client.ts"

/** One field that somebody else changed since this page read it. */
export interface FieldConflict {
  readonly field: string
  readonly before: unknown
  readonly theirs: unknown
  readonly mine: unknown
}

export interface Conflict {
  /** What both have changed, as this page has read it. */
  readonly base: { readonly name?: unknown; readonly currencyCode?: unknown }
  readonly fields: ReadonlyArray<FieldConflict>
  /** Answers whether to apply the change to the new version. */
  readonly resolve: (isRedone: boolean) => void
}

/** The conflict that the page shows now. */
export const conflict = signal<Conflict | undefined>(undefined)

/** Shows what another person has done. The answer is whether to apply our change nevertheless. */
export const askWhetherToRedo = (base: object, fields: ReadonlyArray<FieldConflict>) =>
  new Promise<boolean>((resolve) => {
    conflict.value = {
      base,
      fields,
      resolve: (isRedone) => {
        conflict.value = undefined
        resolve(isRedone)
      }
    }
  })

/** Fields that nobody sets: the service keeps or computes them. */
const derived = new Set(["updatedAt", "createdAt", "id", "lineTotalMinor", "discountMinor"])

const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other)

/** An empty field of a form is a field that the resource does not have. */
const isUnchanged = (one: unknown, other: unknown) =>
  isSame(one === "" ? undefined : one, other === "" ? undefined : other)

/** The part of a form that differs from what it began with. The rest is not sent, so it cannot undo another's change. */
export const changedFields = <B extends object>(before: object, body: B): Partial<B> => {
  const old = new Map<string, unknown>(Object.entries(before))
  const entries = Object.entries(body).filter(([field, value]) => !isUnchanged(old.get(field), value))
  return Object.fromEntries(entries) as Partial<B> // a selection of the fields of B
}

/** What another person changed, beside what this person wants. */
const findConflicts = (before: object, theirs: object, mine: object): ReadonlyArray<FieldConflict> => {
  const [old, current, wanted] = [before, theirs, mine].map((value) => new Map<string, unknown>(Object.entries(value)))
  return (
    [...new Set([...Object.keys(before), ...Object.keys(theirs)])]
      .filter((field) => !derived.has(field) && !isSame(old?.get(field), current?.get(field)))
      // Both want the same, such as when the answer to our own change was lost.
      .filter((field) => !wanted?.has(field) || !isSame(wanted.get(field), current?.get(field)))
      .map((field) => ({ field, before: old?.get(field), theirs: current?.get(field), mine: wanted?.get(field) }))
  )
}

/** The header of a change of the version that this page has read. */
export const ifMatch = ({ etag }: Pick<Loaded<unknown>, "etag">) => (etag === undefined ? {} : { "If-Match": etag })

/** Whether a failure means that another person was faster. */
const isOutdated = (cause: unknown) => cause instanceof ApiFailure && cause.status === 412

/**
 * Changes the version that this page has read. If somebody else has changed it meanwhile, it shows their change and
 * applies ours to the new version only when asked to. Undefined if our change was given up.
 */
export const updateVersion = async <A extends object, B>(
  known: Pick<Loaded<A>, "value" | "etag">,
  mine: object,
  write: (headers: { "If-Match": string }) => Promise<B>,
  readAgain: () => Promise<Loaded<A>>
): Promise<B | undefined> => {
  try {
    return await write({ "If-Match": known.etag ?? "*" })
  } catch (cause) {
    if (!isOutdated(cause)) throw cause
    const current = await readAgain()
    const fields = findConflicts(known.value, current.value, mine)
    return (await askWhetherToRedo(known.value, fields)) ? updateVersion(current, mine, write, readAgain) : undefined
  }
}

/** The same for a resource that a list has shown, whose version is unknown: reads it first, and compares. */
export const updateListed = async <A extends object, B>(
  base: A,
  mine: object,
  write: (headers: { "If-Match": string }) => Promise<B>,
  readAgain: () => Promise<Loaded<A>>
): Promise<B | undefined> => {
  const current = await readAgain()
  const fields = findConflicts(base, current.value, mine)
  if (fields.length > 0 && !(await askWhetherToRedo(base, fields))) return undefined
  return updateVersion(current, mine, write, readAgain)
}
