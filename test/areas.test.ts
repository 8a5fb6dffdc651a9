import { readdirSync } from "node:fs"
import { join } from "node:path"
import { assert, it } from "vitest"
import { areas } from "../.dependency-cruiser.mjs"
import { Api } from "../src/http/api/Api.ts"
import { handlerGroups } from "../src/http/HandlerGroups.ts"
import { projectRoot } from "../tools/local/ProjectRoot.ts"

const foldersOf = (...path: ReadonlyArray<string>) =>
  readdirSync(join(projectRoot, ...path), { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? [entry.name] : []
  )

it.each([
  ["domain", []],
  ["layers", ["infra"]],
  ["http", ["server"]]
] as const)("test/%s has the folders of areas", (tree, others) => {
  const known = [...Object.keys(areas), ...others]
  assert.deepStrictEqual(
    foldersOf("test", tree).filter((name) => !known.includes(name)),
    []
  )
})

it("test/layers/infra has the folders of src/layers/infra", () => {
  assert.includeMembers(foldersOf("src", "layers", "infra"), foldersOf("test", "layers", "infra"))
})

it("every group of the API has its handlers", () => {
  assert.deepStrictEqual(
    handlerGroups.map(({ group }) => group.identifier),
    Object.keys(Api.groups)
  )
})
