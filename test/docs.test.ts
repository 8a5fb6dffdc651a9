import { existsSync } from "node:fs"
import { dirname, join } from "node:path"
import { Schema } from "effect"
import GithubSlugger from "github-slugger"
import { assert, describe, it } from "vitest"
import { jitter, retryDelaysMs } from "../src/domain/delivery/RetrySchedule.ts"
import { eventCatalogue } from "../src/domain/events/EventCatalogue.ts"
import { Provider } from "../src/domain/integrations/Provider.ts"
import { makeApi } from "../src/http/api/Api.ts"
import { makeOpenApiDocument } from "../src/http/api/OpenApi.ts"
import { handlerGroups } from "../src/http/HandlerGroups.ts"
import { settings } from "../src/layers/infra/config/Settings.ts"
import { exampleEnvironment, settingsPage } from "../src/settingsDocs.ts"
import { projectRoot } from "../tools/local/ProjectRoot.ts"
import { pages, proseOf, readPage, sectionOf, tableRowsOf } from "./support/assertions/docs.ts"

const pathsIn = (text: string) =>
  [...text.matchAll(/`((?:src|test|scripts|docs|examples|bench)\/[\w./-]*\w)`/g)].map(([, path]) => path ?? "")

/** The files of the example resource, which the project does not have. */
const isExample = (path: string) => /\/(0024_)?[Nn]otes?(Api)?\.(ts|sql)$/.test(path)

/** The anchors that GitHub gives to the headings of a page. */
const anchorsOf = (page: string) => {
  const slugger = new GithubSlugger()
  return [...proseOf(readPage(page)).matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) => slugger.slug(heading))
}

const brokenLinksOf = (page: string) =>
  [...proseOf(readPage(page)).matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]*))?\)/g)].flatMap(
    ([, path = "", anchor]) => {
      const target = path === "" ? page : join(dirname(page), path)
      if (!existsSync(join(projectRoot, target))) return [`${page}: ${path} does not exist`]
      return anchor === undefined || anchorsOf(target).includes(anchor)
        ? []
        : [`${page}: ${target} has no heading #${anchor}`]
    }
  )

const operations = Object.entries(makeOpenApiDocument(makeApi(handlerGroups.map(({ group }) => group))).paths).flatMap(
  ([path, methods]) => Object.keys(methods).map((method) => `${method.toUpperCase()} ${path.replace("/api/v1", "")}`)
)

/** A provider may begin like a setting. */
const isProvider = Schema.is(Provider)

describe("The documentation", () => {
  for (const page of pages) {
    it(`names only files that exist: ${page}`, () => {
      const missing = pathsIn(readPage(page)).filter((path) => !isExample(path) && !existsSync(join(projectRoot, path)))
      assert.deepStrictEqual(missing, [])
    })

    it(`names only commands that exist: ${page}`, () => {
      const { scripts } = JSON.parse(readPage("package.json"))
      for (const [, command = ""] of readPage(page).matchAll(/npm run (?:-s )?([\w:-]+)/g))
        assert.property(scripts, command, `npm run ${command}`)
    })

    it(`links only to pages and headings that exist: ${page}`, () => {
      assert.deepStrictEqual(brokenLinksOf(page), [])
    })

    it(`names only settings that exist: ${page}`, () => {
      const named = [...readPage(page).matchAll(/`([A-Z]+(?:_[A-Z]+)+)`/g)]
        .map(([, name = ""]) => name)
        .filter((name) => !isProvider(name))
      const prefixes = [...new Set(Object.keys(settings).map((name) => `${name.split("_")[0]}_`))]
      const unknown = named.filter((name) => prefixes.some((prefix) => name.startsWith(prefix)) && !(name in settings))
      assert.deepStrictEqual(unknown, [])
    })

    it(`names only operations that exist: ${page}`, () => {
      const named = [...readPage(page).matchAll(/`((?:GET|POST|PUT|PATCH|DELETE) \/[^`?\s]*)`/g)]
      const unknown = named
        .map(([, operation = ""]) => operation)
        .filter((operation) => !operations.includes(operation))
      assert.deepStrictEqual(unknown, [])
    })
  }

  it("starts with a README of at most 150 lines that links to every page", () => {
    const readme = readPage("README.md")
    assert.isAtMost(readme.split("\n").length, 150)
    for (const page of pages) if (page !== "README.md") assert.include(readme, `](${page})`)
  })

  it("describes both walks in at most 24 files each", () => {
    const walks = readPage("docs/architecture.md")
      .split(/^## /m)
      .filter((section) => /^1\. `src/m.test(section))
    assert.lengthOf(walks, 2)
    for (const walk of walks) assert.isAtMost(pathsIn(walk).length, 24)
  })

  it("lists every setting once, with its default, and is up to date: npm run docs", () => {
    assert.deepStrictEqual(
      tableRowsOf(settingsPage).flatMap(([name = ""]) => (name === "setting" ? [] : [name])),
      Object.keys(settings)
    )
    assert.strictEqual(readPage("docs/settings.md"), settingsPage)
    assert.strictEqual(readPage(".env.example"), exampleEnvironment)
  })

  it("lists every event type", () => {
    const [, ...rows] = tableRowsOf(sectionOf("docs/webhooks.md", "Events").split("`data`")[1] ?? "")
    assert.deepStrictEqual(
      rows,
      Object.entries(eventCatalogue).map(([resource, { actions }]) => [resource, actions.join(", ")])
    )
  })

  it("shows the retry schedule of deliveries", () => {
    const unit = (ms: number) =>
      ms === 0 ? "0" : ms < 60_000 ? `${ms / 1000} s` : ms < 3_600_000 ? `${ms / 60_000} min` : `${ms / 3_600_000} h`
    const [numbers, [label = "", ...delays] = []] = tableRowsOf(sectionOf("docs/webhooks.md", "Deliveries and retries"))
    assert.deepStrictEqual(
      numbers?.slice(1),
      retryDelaysMs.map((_, index) => String(index + 1))
    )
    assert.deepStrictEqual(delays, retryDelaysMs.map(unit))
    assert.include(label, `±${jitter * 100} %`)
  })
})
