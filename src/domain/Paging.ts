/** Keyset position: a page starts after the row with this `order` and `id`. Rows without `order` sort last. */
export interface PagePosition {
  readonly order?: number | undefined
  readonly id: string
}

/** Size and start of the requested page. */
export interface PageRequest {
  readonly limit: number
  readonly after: PagePosition | undefined
}

export const pageLimit = { max: 200, default: 50 } as const
