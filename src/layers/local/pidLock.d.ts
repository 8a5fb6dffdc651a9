/** The lock is plain JavaScript because it also guards the installation of the packages. */
declare module "*/scripts/pidLock.mjs" {
  export type Lock =
    | { readonly held: true; readonly pid: number }
    | {
        readonly held: false
        /** A holder before us was killed without releasing it. */
        readonly foundStale: boolean
        readonly release: () => void
      }

  /** When a living process began; `undefined` when there is none. */
  export const startOf: (pid: number) => string | undefined
  export const tryLock: (folder: string) => Lock
}
