import type { Page } from "playwright-core"
import { assert } from "vitest"

/** The name of the element with the focus. Without one, the body has it, which contains every name. */
const focusedName = `(({ activeElement: element, body }) =>
  element === body ? "" : (element.getAttribute("aria-label") ?? element.labels?.[0]?.textContent ?? element.textContent)
)(document)`

/** Presses Tab until the element with this name has the focus. */
export const tabTo = async (page: Page, name: string) => {
  for (let pressed = 0; pressed < 60; pressed++) {
    if ((await page.evaluate<string>(focusedName)).includes(name)) return
    await page.keyboard.press("Tab")
  }
  assert.fail(`Tab never reaches ${name}`)
}
