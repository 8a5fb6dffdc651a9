import type { Computed } from "./resource/Columns.ts"

/** The branding attached to a tenant or client, as a part of its row. */
export const media: Computed = { expression: () => "'[]'::json", initial: [] }
