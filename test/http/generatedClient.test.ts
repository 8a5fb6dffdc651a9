import { readFileSync } from "node:fs"
import { join } from "node:path"
import openapiTypeScript, { astToString } from "openapi-typescript"
import ts from "typescript"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { projectRoot } from "../../src/layers/local/ProjectRoot.ts"
import { makeProgramFolder, type ProgramFolder } from "../support/servers/programFolder.ts"
import { type Service, startService } from "../support/servers/service.ts"

const program = readFileSync(join(projectRoot, "examples/generatedClient.ts"), "utf8")

/** One wrong word each, on a line of its own, and the code the compiler refuses it with. */
const mistakes = [
  { mistake: "a path that is none", right: `"/api/v1/tenants"`, wrong: `"/api/v1/tenant"`, code: "TS2345" },
  { mistake: "a property that is none", right: `name: "Northwind"`, wrong: `nom: "Northwind"`, code: "TS2353" },
  { mistake: "a property left out", right: `, currencyCode: "EUR"`, wrong: "", code: "TS2322" },
  { mistake: "a number as text", right: "order: 3", wrong: `order: "3"`, code: "TS2322" },
  { mistake: "no tenant", right: "{ header, query: { limit: 1 } }", wrong: "{ query: { limit: 1 } }", code: "TS2741" },
  { mistake: "a word outside an enum", right: `"ENDED"`, wrong: `"CLOSED"`, code: "TS2322" },
  {
    mistake: "a relation taken for granted",
    right: `typeof inFull.contract === "string" ||`,
    wrong: "",
    code: "TS2339"
  },
  { mistake: "a failure that is none", right: `=== "ValidationError"`, wrong: `=== "Invalid"`, code: "TS2367" }
] as const

const wrongProgram = mistakes.reduce((text, { right, wrong }) => text.replace(right, wrong), program)

const lineOf = (text: string) => program.slice(0, program.indexOf(text)).split("\n").length

/** Where a type has names the document does not give, and what may stand under them. */
const openPlacesOf = (types: string) => {
  const places: Array<readonly [place: string, type: string]> = []
  const visit = (node: ts.Node, path: ReadonlyArray<string>) => {
    const isNamed = ts.isInterfaceDeclaration(node) || ts.isPropertySignature(node)
    const here = isNamed ? [...path, node.name.getText()] : path
    if (ts.isIndexSignatureDeclaration(node)) places.push([here.join("."), node.type.getText()])
    ts.forEachChild(node, (child) => visit(child, here))
  }
  visit(ts.createSourceFile("contracting.ts", types, ts.ScriptTarget.Latest, true), [])
  return places
}

const anything = "Record<string, never> | unknown[] | string | number | boolean | null"

/** What a caller may name as they like, and the tracker, which sends more than is named. */
const open: Readonly<Record<string, string>> = {
  "Billable.metadata": "string",
  "BillableReferenceChanged.metadata": "string",
  "CreateBillables.billables.metadata": "string",
  "PatchBillable.metadata": "string",
  IssueWebhook: anything,
  "IssueWebhook.issue": anything,
  "IssueWebhook.issue.fields": anything,
  "IssueWebhook.issue.fields.project": anything
}

describe("a client over generated types", () => {
  let service: Service
  let folder: ProgramFolder
  let types: string
  let faults: ReadonlyArray<string>
  beforeAll(async () => {
    service = await startService()
    types = astToString(await openapiTypeScript(new URL("/openapi.json", service.url)))
    folder = makeProgramFolder()
    folder.write("contracting.ts", types)
    folder.write("program.ts", program)
    folder.write("wrong.ts", wrongProgram)
    faults = await folder.typeFaults()
  })
  afterAll(async () => {
    folder.remove()
    await service.stop()
  })

  it("finds a type for everything in the document", () => {
    assert.notMatch(types.replaceAll(/\[(name|key): string\]: [^;]*;/g, ""), /\b(unknown|any)\b/)
  })

  it("finds names that are not in the document only where there may be any", () => {
    // Headers the document does not name may come along with every answer.
    const isHeader = ([place, type]: readonly [string, string]) =>
      /\.responses\."?\w+"?\.headers$/.test(place) && type === "unknown"
    const places = openPlacesOf(types).filter((place) => !isHeader(place))
    assert.sameDeepMembers(
      places,
      Object.entries(open).map(([place, type]) => [`components.schemas.${place}`, type])
    )
  })

  it("passes the compiler", () => {
    assert.deepStrictEqual(
      faults.filter((line) => !line.startsWith("wrong.ts(")),
      []
    )
  })

  it.each(mistakes)("does not pass with $mistake", ({ code, right }) => {
    assert.include(program, right)
    const found = faults.filter((line) => line.startsWith(`wrong.ts(${lineOf(right)},`))
    assert.include(found.join("\n"), `error ${code}:`)
  })

  it("works against the service", async () => {
    const printed = JSON.parse(
      await folder.run("program.ts", { API: service.url, TOKEN: await service.token("alice") })
    )
    const { client, clientInFull, contract, details, page, patched } = printed
    assert.deepInclude(client, { name: "Northwind", order: 1 })
    assert.deepInclude(contract, { client: client.id, status: "DRAFT", paymentTermDays: 30 })
    assert.deepInclude(patched, { contract: contract.id, name: "Pump house", description: "Roof too", order: 3 })
    assert.deepStrictEqual(clientInFull, client)
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
