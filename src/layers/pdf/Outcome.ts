/** The reply of the render thread to one document. */
export type Outcome = { readonly pdf: Uint8Array } | { readonly fault: string }
