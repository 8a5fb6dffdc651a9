/** Where a page begins: after the row with this order (absent sorts last) and identifier. */
export interface Position {
  readonly order?: number | undefined
  readonly id: string
}

/** The part of a list a caller asks for. */
export interface Window {
  readonly limit: number
  readonly after: Position | undefined
}

export const pageLimit = { most: 200, usual: 50 } as const
