/** Keyset position: a page starts after the row with this `order` and `id`. Rows without `order` sort last. */
export interface Position {
  readonly order?: number | undefined
  readonly id: string
}

/** Size and start of the requested page. */
export interface Window {
  readonly limit: number
  readonly after: Position | undefined
}

export const pageLimit = { most: 200, usual: 50 } as const
