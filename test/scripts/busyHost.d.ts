declare module "*/scripts/busyHost.mjs" {
  export const describeHost: (stolenPercent: number) => string
  export const isWorthRepeating: (stolenPercent: number, failedFiles: ReadonlyArray<string>) => boolean
}
