declare module "*/scripts/releaseFolder.mjs" {
  export const writeRelease: (target: string) => Promise<void>
}
