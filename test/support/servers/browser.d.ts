/** The finding of a browser, as far as the tests use it: a script beside the sources, so TypeScript is told its shape. */
declare module "*/scripts/browser.mjs" {
  /** The program of a Chromium, if there is one. */
  export const findBrowser: () => string | undefined
  /** Why tests that need one are left out. */
  export const withoutBrowser: string
}
