import { type Browser, chromium } from "playwright-core"
import { findBrowser, withoutBrowser } from "../../../scripts/browser.mjs"

const program = findBrowser()

if (program === undefined) console.warn(`Browser tests are skipped: ${withoutBrowser}`)

/** Whether browser tests cannot run, and why. */
export const isSkipped = program === undefined
export const titleOf = (title: string) => (isSkipped ? `${title} (skipped: ${withoutBrowser})` : title)

let launched: Promise<Browser> | undefined

/**
 * The browser of this process, which ends with it. Its start is expensive, so all files of a worker share it: close the
 * contexts, not the browser.
 */
export const sharedBrowser = () => {
  // Chromium cannot set up its sandbox as root, the user of many containers.
  launched ??= chromium.launch({ executablePath: program ?? "", args: ["--no-sandbox"] }).then((browser) =>
    // After a crash the next file gets another.
    browser.on("disconnected", () => {
      launched = undefined
    })
  )
  return launched
}

/** Closes what a file has opened, also after a failure. A worker runs one file at a time. */
export const closeContexts = async () => {
  const browser = await launched
  await Promise.all((browser?.contexts() ?? []).map((context) => context.close()))
}
