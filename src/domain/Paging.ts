/**
 * Keyset position: a page starts after the row with this `order` and `id`. Rows without `order` sort last. In a list with
 * a chosen sort, `key` is the value of the sorted field, null for a row without one.
 */
export interface PagePosition {
  readonly id: string
  readonly order?: number | undefined
  readonly sort?: string | undefined
  readonly key?: string | null | undefined
}

/** Size and start of the requested page. */
export interface PageRequest {
  readonly limit: number
  readonly after: PagePosition | undefined
}

export const pageLimit = { max: 200, default: 50 } as const

/** A field to sort a list by. A minus sorts descending. */
export type Sort<F extends string = string> = F | `-${F}`

/** All sorts by these fields. */
export const sortsOf = <F extends string>([first, ...rest]: readonly [F, ...Array<F>]): readonly [
  Sort<F>,
  ...Array<Sort<F>>
] => [first, ...rest, `-${first}`, ...rest.map((name): Sort<F> => `-${name}`)]

export const parseSort = (sort: string) =>
  sort.startsWith("-") ? { field: sort.slice(1), isDescending: true } : { field: sort, isDescending: false }

/** The position of a row in a list with this sort. */
export const positionOf = (row: PagePosition, sort: string | undefined): PagePosition => {
  if (sort === undefined) return row
  const value = Object.entries(row).find(([name]) => name === parseSort(sort).field)?.[1]
  return { id: row.id, sort, key: value === undefined ? null : String(value) }
}
