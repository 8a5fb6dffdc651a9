// Stryker activates a mutant before the tests of a file run. A worker that is kept would still have the previous mutant
// active while it collects the tests of the next file.
const { __stryker__: stryker } = globalThis as { readonly __stryker__?: { activeMutant?: string | undefined } } // a global of Stryker

if (stryker !== undefined) stryker.activeMutant = undefined
