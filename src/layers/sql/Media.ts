/** The branding attached to a tenant or client, as a part of its row. */
export const media = { expression: "'[]'::json", initial: [] }
