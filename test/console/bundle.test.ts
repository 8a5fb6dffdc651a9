import { stop } from "esbuild"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { bundleConsole } from "../../scripts/consoleBundle.mjs"
import { maxScriptBytes, measureScripts } from "../support/consoleCheck/scriptSizes.ts"

/** Names of XML namespaces, which no browser requests, and the address in an error message of the router. */
const knownAddresses = /^(http:\/\/www\.w3\.org\/(1998|1999|2000)\/|https:\/\/github\.com\/preactjs\/preact-iso#)/

describe("The bundle of the console", () => {
  let bundle: Awaited<ReturnType<typeof bundleConsole>>
  beforeAll(async () => {
    bundle = await bundleConsole()
  })
  afterAll(() => stop())

  it(`has at most ${maxScriptBytes.all} bytes of script in all, and ${maxScriptBytes.firstPaint} before the first paint`, () => {
    const { all, firstPaint } = measureScripts(bundle)
    assert.isAtMost(all, maxScriptBytes.all)
    assert.isAtMost(firstPaint, maxScriptBytes.firstPaint)
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
