import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { blocksOf, sectionOf } from "../support/assertions/docs.ts"
import { makeProgramFolder, type ProgramFolder } from "../support/servers/programFolder.ts"
import { type Service, startService } from "../support/servers/service.ts"

const section = sectionOf("docs/api.md", "Typed clients")

describe("The typed clients of docs/api.md", () => {
  let service: Service
  let folder: ProgramFolder
  let errors: ReadonlyArray<string>
  beforeAll(async () => {
    service = await startService()
    folder = makeProgramFolder()
    const blocksIn = (language: string) =>
      blocksOf(section, language).map((block) => block.replaceAll("http://localhost:3000", service.url))
    const [generate = ""] = blocksIn("sh")
    const [effect = "", generated = ""] = blocksIn("ts")
    await folder.shell(generate)
    folder.write("effectClient.ts", effect)
    folder.write("generatedClient.ts", generated)
    errors = await folder.typeErrors()
  }, 120_000)
  afterAll(async () => {
    folder.remove()
    await service.stop()
  })

  it("compile", () => {
    assert.deepStrictEqual(errors, [])
  })

  it("print the expected output", async () => {
    const env = { TOKEN: await service.token("alice") }
    const [effect, generated] = await Promise.all([
      folder.run("effectClient.ts", env),
      folder.run("generatedClient.ts", env)
    ])
    assert.strictEqual(effect, "Northwind is gone\n")
    assert.match(generated, /field: 'order',\s+message: 'must be at least 0, but is -1'/)
  })
})
