/** What comes back from the drawing thread for each document that is sent there. */
export type Outcome = { readonly pdf: Uint8Array } | { readonly fault: string }
