import { readFileSync } from "node:fs"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { makeProgramFolder, type ProgramFolder } from "./support/servers/programFolder.ts"
import { type Service, startService } from "./support/servers/service.ts"

const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8")

const blocksUnder = (heading: string) =>
  [...(readme.split(`## ${heading}\n`)[1]?.split("\n## ")[0] ?? "").matchAll(/```(\w+)\n(.*?)```/gs)].map(
    ([, language, text = ""]) => ({ language, text })
  )

describe("the README's typed clients", () => {
  let service: Service
  let folder: ProgramFolder
  let faults: ReadonlyArray<string>
  beforeAll(async () => {
    service = await startService()
    folder = makeProgramFolder()
    const blocks = blocksUnder("A typed client")
    assert.deepStrictEqual(
      blocks.map(({ language }) => language),
      ["ts", "sh", "ts"]
    )
    const [effect = "", generate = "", generated = ""] = blocks.map(({ text }) =>
      text.replaceAll("http://localhost:3000", service.url)
    )
    folder.write("effectClient.ts", effect)
    await folder.shell(generate)
    folder.write("generatedClient.ts", generated)
    faults = await folder.typeFaults()
  }, 120_000)
  afterAll(async () => {
    folder.remove()
    await service.stop()
  })

  it("pass the compiler", () => {
    assert.deepStrictEqual(faults, [])
  })

  it("work when copied", async () => {
    const env = { TOKEN: await service.token("alice") }
    assert.strictEqual(await folder.run("effectClient.ts", env), "Northwind is gone\n")
    assert.match(await folder.run("generatedClient.ts", env), /field: 'order',\s+message: 'must be at least 0'/)
  })
})
