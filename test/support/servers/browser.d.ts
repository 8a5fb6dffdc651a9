/** Types of scripts/browser.mjs, as far as tests use it. */
declare module "*/scripts/browser.mjs" {
  export const findBrowser: () => string | undefined
  /** Why browser tests are skipped. */
  export const withoutBrowser: string
}
