/** The reply of the render thread to one document. */
export type RenderResult = { readonly pdf: Uint8Array } | { readonly error: string }
