/** Plain JavaScript, because these scripts also run before the packages are installed. */

declare module "*/scripts/pidLock.mjs" {
  export type Lock =
    | { readonly held: true; readonly pid: number }
    | {
        readonly held: false
        /** A previous holder was killed before it released the lock. */
        readonly foundStale: boolean
        readonly release: () => void
      }

  export const tryLock: (folder: string) => Lock

  /** The start time of a running process; `undefined` when there is none. */
  export const startOf: (pid: number) => string | undefined
}

declare module "*/scripts/bundle.mjs" {
  export const bundle: (entry: string, outfile: string, options: { readonly selfContained: boolean }) => Promise<void>
}

declare module "*/scripts/prepare.mjs" {
  /** The program that the current sources are built to. */
  export const main: string

  /** Whether a bundle of the service contains the current sources and packages. */
  export const isBuilt: (bundle: string) => boolean

  /** Builds the service with everything that it reads at run time. */
  export const buildProgram: (folder: string) => Promise<void>
}
