import { assert, describe, it } from "vitest"
import { settings } from "../../src/layers/infra/config/Settings.ts"
import { commands, readProjectFile } from "../support/assertions/deployment.ts"

const dockerfile = readProjectFile("Dockerfile").replaceAll("\\\n", "")

/** The arguments of every instruction of a kind, in the last stage. */
const instructions = (name: string, text = dockerfile.split(/^FROM /m).at(-1) ?? "") =>
  [...text.matchAll(new RegExp(`^${name} (.*)$`, "gm"))].map(([, args = ""]) => args)

const environment: Readonly<Record<string, string>> = Object.fromEntries(
  instructions("ENV").flatMap((line) => line.split(" ").map((pair) => pair.split("=")))
)

describe("The Dockerfile", () => {
  it("runs the api unless told otherwise, with node as the first process", () => {
    assert.deepStrictEqual(instructions("ENTRYPOINT"), [`["/usr/local/bin/node"]`])
    assert.deepStrictEqual(
      instructions("CMD").map((line) => JSON.parse(line)),
      [commands["api"]]
    )
  })

  it("sets only settings that exist, and none of a development setup", () => {
    assert.deepStrictEqual(
      Object.keys(environment).filter((name) => !(name in settings)),
      []
    )
    assert.strictEqual(environment["NODE_ENV"], "production")
  })

  it("runs as a numeric user other than root", () => {
    assert.match(instructions("USER").join(), /^[1-9]\d*:[1-9]\d*$/)
  })

  it("runs nothing in the image that runs, which has no shell", () => {
    assert.deepStrictEqual(instructions("RUN"), [])
  })

  it("builds with the version of Node.js that the project uses", () => {
    assert.include(dockerfile, `ARG BUILD_IMAGE=docker.io/library/node:${readProjectFile(".nvmrc").trim()}-`)
  })

  it("copies only what .dockerignore lets through", () => {
    const allowed = [...readProjectFile(".dockerignore").matchAll(/^!(.*)$/gm)].map(([, path]) => path)
    const copied = instructions("COPY", dockerfile)
      .filter((line) => !line.startsWith("--from"))
      .flatMap((line) => line.split(" ").slice(0, -1))
    assert.sameMembers(allowed, copied)
  })
})

describe("The api script of package.json", () => {
  it("has the heap options of the image", () => {
    const { scripts } = JSON.parse(readProjectFile("package.json"))
    assert.strictEqual(
      scripts.api,
      `exec node ${commands["api"]?.join(" ").replace("dist/main.js", "scripts/run.mjs")}`
    )
  })
})
