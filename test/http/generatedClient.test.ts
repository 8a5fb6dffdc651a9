import { readFileSync } from "node:fs"
import { join } from "node:path"
import ts from "typescript"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { projectRoot } from "../../tools/local/ProjectRoot.ts"
import { blocksOf, sectionOf } from "../support/assertions/docs.ts"
import { makeProgramFolder, type ProgramFolder } from "../support/servers/programFolder.ts"
import { type Service, startService } from "../support/servers/service.ts"

const program = readFileSync(join(projectRoot, "examples/generatedClient.ts"), "utf8")

/** Mistakes, each on a separate line of the program, and the compiler error of each. */
const mistakes = [
  { mistake: "an unknown path", right: `"/api/v1/tenants"`, wrong: `"/api/v1/tenant"`, code: "TS2345" },
  { mistake: "an unknown property", right: `name: "Northwind"`, wrong: `nom: "Northwind"`, code: "TS2353" },
  { mistake: "a missing property", right: `, currencyCode: "EUR"`, wrong: "", code: "TS2322" },
  { mistake: "a text in place of a number", right: "order: 3", wrong: `order: "3"`, code: "TS2322" },
  {
    mistake: "a missing tenant-id header",
    right: "{ header, query: { limit: 1 } }",
    wrong: "{ query: { limit: 1 } }",
    code: "TS2741"
  },
  { mistake: "a value outside an enum", right: `"ENDED"`, wrong: `"CLOSED"`, code: "TS2322" },
  {
    mistake: "an expanded relation without a check",
    right: `typeof expanded.contract === "string" ||`,
    wrong: "",
    code: "TS2339"
  },
  { mistake: "an unknown error tag", right: `=== "ValidationError"`, wrong: `=== "Invalid"`, code: "TS2367" }
] as const

const guide = sectionOf("docs/api.md", "Typed clients")

const invalidProgram = mistakes.reduce((text, { right, wrong }) => text.replace(right, wrong), program)

const lineOf = (text: string) => program.slice(0, program.indexOf(text)).split("\n").length

/** The index signatures of the generated types: their path and value type. */
const indexSignaturesOf = (types: string) => {
  const signatures: Array<readonly [path: string, type: string]> = []
  const visit = (node: ts.Node, parents: ReadonlyArray<string>) => {
    const isNamed = ts.isInterfaceDeclaration(node) || ts.isPropertySignature(node)
    const path = isNamed ? [...parents, node.name.getText()] : parents
    if (ts.isIndexSignatureDeclaration(node)) signatures.push([path.join("."), node.type.getText()])
    ts.forEachChild(node, (child) => visit(child, path))
  }
  visit(ts.createSourceFile("contracting.ts", types, ts.ScriptTarget.Latest, true), [])
  return signatures
}

const anyJson = "Record<string, never> | unknown[] | string | number | boolean | null"

/** Free metadata of callers, and webhook bodies of Jira, which have more fields than the document lists. */
const expectedSignatures: Readonly<Record<string, string>> = {
  "Billable.metadata": "string",
  "BillableReferenceChanged.metadata": "string",
  "CreateBillables.billables.metadata": "string",
  "PatchBillable.metadata": "string",
  IssueWebhook: anyJson,
  "IssueWebhook.issue": anyJson,
  "IssueWebhook.issue.fields": anyJson,
  "IssueWebhook.issue.fields.project": anyJson
}

describe("A typed client", () => {
  let service: Service
  let folder: ProgramFolder
  let types: string
  let errors: ReadonlyArray<string>
  beforeAll(async () => {
    service = await startService({})
    folder = makeProgramFolder()
    const blocksIn = (language: string) =>
      blocksOf(guide, language).map((block) => block.replaceAll("http://localhost:3000", service.url))
    const [generate = ""] = blocksIn("sh")
    const [effect = "", generated = ""] = blocksIn("ts")
    await folder.shell(generate)
    types = folder.read("contracting.ts")
    folder.write("program.ts", program)
    folder.write("invalid.ts", invalidProgram)
    folder.write("effectClient.ts", effect)
    folder.write("generatedClient.ts", generated)
    errors = await folder.typeErrors()
  }, 120_000)
  afterAll(async () => {
    folder.remove()
    await service.stop()
  })

  it("has a type for everything in the document", () => {
    const withoutComments = types.replaceAll(/\/\*[\s\S]*?\*\//g, "")
    assert.notMatch(withoutComments.replaceAll(/\[(name|key): string\]: [^;]*;/g, ""), /\b(unknown|any)\b/)
  })

  it("has index signatures only where the document allows additional properties", () => {
    // Every response may carry headers that the document does not list.
    const isHeader = ([path, type]: readonly [string, string]) =>
      /\.responses\."?\w+"?\.headers$/.test(path) && type === "unknown"
    const signatures = indexSignaturesOf(types).filter((signature) => !isHeader(signature))
    assert.sameDeepMembers(
      signatures,
      Object.entries(expectedSignatures).map(([path, type]) => [`components.schemas.${path}`, type])
    )
  })

  it("compiles, also as docs/api.md shows it, with Effect and without", () => {
    assert.deepStrictEqual(
      errors.filter((line) => !line.startsWith("invalid.ts(")),
      []
    )
  })

  it.each(mistakes)("does not compile with $mistake", ({ code, right }) => {
    assert.include(program, right)
    const found = errors.filter((line) => line.startsWith(`invalid.ts(${lineOf(right)},`))
    assert.include(found.join("\n"), `error ${code}:`)
  })

  it("prints what docs/api.md expects, with Effect and without", async () => {
    const env = { TOKEN: await service.token("alice") }
    const [effect, generated] = await Promise.all([
      folder.run("effectClient.ts", env),
      folder.run("generatedClient.ts", env)
    ])
    assert.strictEqual(effect, "Northwind is gone\n")
    assert.match(generated, /field: 'order',\s+message: 'must be at least 0, but is -1'/)
  })

  it("creates, changes and lists resources of the service", async () => {
    const printed = JSON.parse(
      await folder.run("program.ts", { API: service.url, TOKEN: await service.token("alice") })
    )
    const { client, expandedClient, contract, details, page, patched } = printed
    assert.deepInclude(client, { name: "Northwind", order: 1 })
    assert.deepInclude(contract, { client: client.id, status: "DRAFT", paymentTermDays: 30 })
    assert.deepInclude(patched, { contract: contract.id, name: "Pump house", description: "Roof too", order: 3 })
    assert.deepStrictEqual(expandedClient, client)
    assert.deepStrictEqual(page, [patched])
    assert.deepStrictEqual(
      details.map(({ constraint, field }: { constraint: string; field: string }) => [field, constraint]),
      [
        ["name", "minLength"],
        ["paymentTermDays", "min"]
      ]
    )
  })
})
