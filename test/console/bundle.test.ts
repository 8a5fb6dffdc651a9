import { gzipSync } from "node:zlib"
import { stop } from "esbuild"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { bundleConsole } from "../../scripts/consoleBundle.mjs"

/** In bytes, compressed: of all scripts, and of those that run before the page shows something. */
const maxScriptBytes = 80_000
const maxFirstPaintBytes = 50_000

/** Names of XML namespaces, which no browser requests, and the address in an error message of the router. */
const knownAddresses = /^(http:\/\/www\.w3\.org\/(1998|1999|2000)\/|https:\/\/github\.com\/preactjs\/preact-iso#)/

describe("The bundle of the console", () => {
  let bundle: Awaited<ReturnType<typeof bundleConsole>>
  beforeAll(async () => {
    bundle = await bundleConsole()
  })
  afterAll(() => stop())

  const sizeOf = (names: ReadonlyArray<string>) =>
    bundle.files
      .filter(({ name }) => names.includes(name))
      .reduce((sum, { contents }) => sum + gzipSync(contents, { level: 9 }).length, 0)

  it(`has at most ${maxScriptBytes} bytes of script in all, and ${maxFirstPaintBytes} before the first paint`, () => {
    const scripts = bundle.files.map(({ name }) => name).filter((name) => name.endsWith(".js"))
    assert.isAtMost(sizeOf(scripts), maxScriptBytes)
    assert.isAtMost(sizeOf([bundle.script, ...bundle.preloads]), maxFirstPaintBytes)
  })

  it("refers to no other origin", () => {
    for (const { contents, name } of bundle.files) {
      const addresses =
        Buffer.from(contents)
          .toString()
          .match(/https?:\/\/[^\s"'`)]+/g) ?? []
      assert.deepStrictEqual(
        addresses.filter((address) => !knownAddresses.test(address)),
        [],
        name
      )
    }
  })

  it("names every file by its content", () => {
    for (const { name } of bundle.files) assert.match(name, /^[\w-]+-[A-Z0-9]{8}\.(js|css)$/)
  })
})
