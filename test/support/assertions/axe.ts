import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import type axe from "axe-core"
import type { Page } from "playwright-core"

const source = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8")

/** Runs axe in a page and returns its findings, each with the elements. */
export const runAxe = async (
  page: Page,
  resultTypes: ReadonlyArray<"violations" | "incomplete">,
  options: Pick<axe.RunOptions, "runOnly"> = {}
) => {
  if (!(await page.evaluate<boolean>("'axe' in window"))) await page.evaluate(source)
  // Only the findings leave the page: a complete result names every element for every rule.
  return page.evaluate<ReadonlyArray<string>>(`(async (types) => {
    const results = await axe.run(document, { ...${JSON.stringify(options)}, resultTypes: types })
    return types
      .flatMap((type) => results[type])
      .map(({ id, nodes }) => id + ": " + nodes.map(({ html }) => html).join(" "))
  })(${JSON.stringify(resultTypes)})`)
}
