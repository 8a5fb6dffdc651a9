declare module "*/.dependency-cruiser.mjs" {
  /** What each area may build on. */
  export const areas: Readonly<Record<string, ReadonlyArray<string>>>
}
