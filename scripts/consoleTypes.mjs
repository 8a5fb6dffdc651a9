import { existsSync, mkdirSync, statSync, utimesSync, writeFileSync } from "node:fs"
import { dirname } from "node:path"
import { pathToFileURL } from "node:url"
import { build } from "esbuild"
import openapiTS, { astToString } from "openapi-typescript"
import { commonOptions } from "./bundle.mjs"
import { changedSince } from "./prepare.mjs"
import { inProject } from "./project.mjs"

const types = inProject("src/console/generated/api.ts")

const sources = ["src/domain", "src/http", "package-lock.json"]

const areCurrent = () =>
  existsSync(types) && sources.every((name) => !changedSince(statSync(types).mtimeMs, inProject(name)))

const readDocument = async () => {
  const outfile = inProject("node_modules/.cache/console/document.js")
  await build({
    ...commonOptions,
    entryPoints: [inProject("client/build/document.ts")],
    outfile,
    packages: "external"
  })
  const { document } = await import(pathToFileURL(outfile).href)
  return document
}

/** The client of the console sends the headers by itself, so that its calls need not name them. */
const withoutHeaders = (document) => ({
  ...document,
  paths: Object.fromEntries(
    Object.entries(document.paths).map(([path, operations]) => [
      path,
      Object.fromEntries(
        Object.entries(operations).map(([method, operation]) => [
          method,
          { ...operation, parameters: operation.parameters?.filter((parameter) => parameter.in !== "header") }
        ])
      )
    ])
  )
})

/** Writes the types of the API for the console, from the OpenAPI document. */
const writeTypes = async () => {
  const startedAt = new Date()
  const document = await readDocument()
  const text = astToString(await openapiTS(JSON.stringify(withoutHeaders(document))))
  mkdirSync(dirname(types), { recursive: true })
  writeFileSync(types, text)
  // The start: a source that changes meanwhile must look newer.
  utimesSync(types, startedAt, startedAt)
}

if (!areCurrent()) await writeTypes()
// The service's modules keep timers.
process.exit(0)
