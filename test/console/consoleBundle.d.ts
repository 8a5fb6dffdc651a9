/** Types of scripts/consoleBundle.mjs, as far as tests use it. */
declare module "*/scripts/consoleBundle.mjs" {
  export const bundleConsole: () => Promise<{
    readonly files: ReadonlyArray<{ readonly name: string; readonly contents: Uint8Array }>
    readonly script: string
    readonly preloads: ReadonlyArray<string>
    readonly style: string
  }>
}
