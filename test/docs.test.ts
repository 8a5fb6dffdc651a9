import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import { projectRoot } from "../src/layers/local/ProjectRoot.ts"

const read = (file: string) => readFileSync(join(projectRoot, file), "utf8")
const pathsIn = (text: string) =>
  [...text.matchAll(/`((?:src|test|scripts|docs|examples|bench)\/[\w./-]*\w)`/g)].map(([, path]) => path ?? "")

/** The files of the example resource, which the project does not have. */
const isExample = (path: string) => /\/(0024_)?[Nn]otes?\.(ts|sql)$/.test(path)

describe("The documentation", () => {
  for (const file of ["README.md", "CONTRIBUTING.md", "docs/architecture.md"])
    it(`names only files that exist: ${file}`, () => {
      const missing = pathsIn(read(file)).filter((path) => !isExample(path) && !existsSync(join(projectRoot, path)))
      assert.deepStrictEqual(missing, [])
    })

  it("names only commands that exist", () => {
    const { scripts } = JSON.parse(read("package.json"))
    for (const file of ["README.md", "CONTRIBUTING.md", "docs/architecture.md"])
      for (const [, command = ""] of read(file).matchAll(/npm run (?:-s )?([\w:-]+)/g))
        assert.property(scripts, command, `${file}: npm run ${command}`)
  })

  it("describes both walks in at most 24 files each", () => {
    const walks = read("docs/architecture.md")
      .split(/^## /m)
      .filter((section) => /^1\. `src/m.test(section))
    assert.lengthOf(walks, 2)
    for (const walk of walks) assert.isAtMost(pathsIn(walk).length, 24)
  })

  it("links only to files that exist", () => {
    for (const file of ["README.md", "CONTRIBUTING.md"])
      for (const [, target = ""] of read(file).matchAll(/\]\((?!https?:|#)([^)#]+)/g))
        assert.isTrue(existsSync(join(projectRoot, target)), `${file}: ${target}`)
  })
})
