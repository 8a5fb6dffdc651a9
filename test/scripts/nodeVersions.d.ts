declare module "*/scripts/nodeVersions.mjs" {
  export const supportedMajors: ReadonlyArray<number>
  export const chooseChecks: (options: {
    readonly only?: ReadonlyArray<string>
    readonly command?: ReadonlyArray<string>
  }) => { readonly majors: ReadonlyArray<number>; readonly commands: ReadonlyArray<string> }
  export const nodePackageOf: (platform: string, arch: string) => string
  export const bundledNpmOf: (changelog: string) => string
  export const warningsIn: (text: string) => ReadonlyArray<string>
  export const testCountsIn: (text: string) => string | undefined
  export const formatTable: (rows: ReadonlyArray<Readonly<Record<string, string | number>>>) => string
}
