declare module "*/effectCompiler.mjs" {
  /** The command that checks the project in its working directory, and remembers in `buildInfo` what it found. */
  export const effectCompiler: (buildInfo?: string) => {
    readonly command: string
    readonly args: ReadonlyArray<string>
  }
}
