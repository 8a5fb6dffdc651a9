import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { hasDialog, makeConsoleScreens, visitScreen } from "../fixtures/consoleScreens.ts"
import type { RunningConsole } from "../servers/console.ts"

const windows = [
  { name: "wide", viewport: { width: 1280, height: 860 } },
  { name: "phone", viewport: { width: 360, height: 740 } }
]

const fileNameOf = (index: number, path: string, isDialog: boolean) => {
  const name = path
    .replace(/[?=]/g, "-")
    .replace(/\w+_\w+/, "one")
    .replaceAll("/", " ")
    .trim()
    .replaceAll(" ", "-")
  return `${String(index + 1).padStart(2, "0")}-${name || "home"}${isDialog ? "-dialog" : ""}`
}

/** Writes every screen to a folder, in both colour schemes and window sizes. Returns how many files. */
export const takeScreenshots = async (console: RunningConsole, folder: string) => {
  mkdirSync(folder, { recursive: true })
  const screens = await makeConsoleScreens(console)
  for (const { name, viewport } of windows) {
    const page = await console.open("", { viewport })
    await page.waitForSelector(".tiles")
    for (const [index, screen] of screens.entries())
      await visitScreen(page, console.tenant, screen, async () => {
        for (const colorScheme of ["light", "dark"] as const) {
          await page.emulateMedia({ colorScheme })
          const file = `${fileNameOf(index, screen.path, hasDialog(screen))}-${name}-${colorScheme}.png`
          await page.screenshot({ path: join(folder, file) })
        }
      })
  }
  return screens.length * windows.length * 2
}
