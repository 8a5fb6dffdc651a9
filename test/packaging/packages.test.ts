import { readFileSync } from "node:fs"
import { Schema } from "effect"
import { assert, describe, it } from "vitest"

const LockFile = Schema.parseJson(
  Schema.Struct({
    packages: Schema.Record({
      key: Schema.String,
      value: Schema.Struct({
        resolved: Schema.optional(Schema.String),
        peerDependencies: Schema.optional(Schema.Record({ key: Schema.String, value: Schema.String }))
      })
    })
  })
)

const { packages } = Schema.decodeUnknownSync(LockFile)(readFileSync("package-lock.json", "utf8"))

/** `effect` for `node_modules/a/node_modules/effect`. */
const nameOf = (folder: string) => folder.slice(folder.lastIndexOf("node_modules/") + "node_modules/".length)

describe("The locked packages", () => {
  // Two copies of a package of Effect have different tags, so that a service of one is missing for the other.
  it("have one copy of Effect and of each package that extends it", () => {
    const names = Object.entries(packages)
      .map(([folder, { peerDependencies }]) => ({ name: nameOf(folder), peerDependencies }))
      .filter(({ name, peerDependencies = {} }) => name === "effect" || "effect" in peerDependencies)
      .map(({ name }) => name)
    assert.includeMembers(names, ["effect", "@effect/platform", "@effect/sql"])
    assert.deepStrictEqual(names, [...new Set(names)])
  })

  it("name no registry, so that any registry can install them", () => {
    assert.deepStrictEqual(
      Object.entries(packages).filter(([, { resolved }]) => resolved?.includes("://")),
      []
    )
  })
})
