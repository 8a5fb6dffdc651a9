/** Plain JavaScript, because these also work before the packages are there. */

declare module "*/scripts/pidLock.mjs" {
  export type Lock =
    | { readonly held: true; readonly pid: number }
    | {
        readonly held: false
        /** A holder before us was killed without releasing it. */
        readonly foundStale: boolean
        readonly release: () => void
      }

  export const tryLock: (folder: string) => Lock

  /** When a living process began; `undefined` when there is none. */
  export const startOf: (pid: number) => string | undefined
}

declare module "*/scripts/bundle.mjs" {
  export const bundle: (entry: string, outfile: string, options: { readonly selfContained: boolean }) => Promise<void>
}
