import openapiTypeScript, { astToString } from "openapi-typescript"
import { document, errorNames, namedSchemas, type Operation, operations } from "./document.ts"

const banner = "// Made by `npm run build:client` from the OpenAPI document of the service.\n"

/** The types of all schemas, each exported by its name. */
export const printSchemas = async () => {
  const schemas = Object.fromEntries(
    Object.entries({ ...document.components.schemas, ...namedSchemas }).filter(([name]) => !errorNames.includes(name))
  )
  const tree = await openapiTypeScript(
    { openapi: document.openapi, info: document.info, paths: {}, components: { schemas } },
    { rootTypes: true, rootTypesNoSchemaPrefix: true, defaultNonNullable: false, emptyObjectsUnknown: true }
  )
  // Nothing but the schemas is in this document.
  const empty = /^export type (paths|webhooks|\$defs|operations) = .*;\n/gm
  return banner + astToString(tree).replaceAll(empty, "").replace("export interface components", "interface components")
}

/** A class for each error of the API. */
export const printErrors = () =>
  [
    banner,
    `import { ApiError } from "../errors.ts"`,
    ...errorNames.map((name) => `export class ${name} extends ApiError {\n  override readonly code = "${name}"\n}`),
    ""
  ].join("\n\n")

const printComment = (text: string, indent: string) => {
  const lines = text.replaceAll("*/", "*\\/").split("\n")
  if (lines.length === 1) return `${indent}/** ${text} */`
  return [`${indent}/**`, ...lines.map((line) => `${indent} * ${line}`.trimEnd()), `${indent} */`].join("\n")
}

const optionsTypeOf = ({ acceptsIfMatch, method, requiredHeaders }: Operation) =>
  [
    "RequestOptions",
    ...(method === "POST" ? ["IdempotencyOption"] : []),
    ...(acceptsIfMatch ? ["MatchOption"] : []),
    ...(requiredHeaders.length === 0
      ? []
      : [`{ readonly headers: { ${requiredHeaders.map((name) => `readonly "${name}": string`).join("; ")} } }`])
  ].join(" & ")

const parametersOf = (operation: Operation) => {
  const { body, pathNames, query, requiredHeaders } = operation
  return [
    ...pathNames.map((name) => `${name}: string`),
    ...[query, body].flatMap((argument) =>
      argument === undefined ? [] : [`${argument.name}: ${argument.type}${argument.isOptional ? " = {}" : ""}`]
    ),
    `options${requiredHeaders.length === 0 ? "?" : ""}: ${optionsTypeOf(operation)}`
  ].join(", ")
}

const printMethod = (operation: Operation) => {
  const { body, comment, method, name, path, query, result } = operation
  const call = [
    ...(result.kind === "list" ? [] : [`method: "${method}"`]),
    `path: path\`${path.replaceAll("{", "${")}\``,
    ...(query === undefined ? [] : ["query"]),
    ...(body === undefined ? [] : [body.isJson ? "json: body" : "bytes: body"]),
    "options"
  ]
  const returned = {
    list: `List<${result.type}>`,
    json: `Promise<${result.type}>`,
    text: "Promise<string>",
    bytes: "Promise<Uint8Array<ArrayBuffer>>",
    none: "Promise<void>"
  }[result.kind]
  const generic = result.kind === "list" || result.kind === "json" ? `<${result.type}>` : ""
  return [
    printComment(comment, "    "),
    `    ${name}: (${parametersOf(operation)}): ${returned} =>`,
    `      http.${result.kind}${generic}({ ${call.join(", ")} })`
  ].join("\n")
}

const printGroup = (group: string) => {
  const members = operations.filter((operation) => operation.group === group)
  const tag = document.tags?.find(({ name }) => name === members[0]?.tag)
  const comment = printComment(tag?.description ?? group, "  ")
  return `${comment}\n  ${group}: {\n${members.map(printMethod).join(",\n\n")}\n  }`
}

/** A method for each operation. */
export const printOperations = () =>
  [
    banner,
    `import type { List } from "../list.ts"`,
    `import { type Bytes, type IdempotencyOption, type MatchOption, path, type RequestOptions, type Transport } from "../transport.ts"`,
    `import type * as Api from "./schemas.ts"`,
    "",
    "export const makeOperations = (http: Transport) => ({",
    [...new Set(operations.map(({ group }) => group))].map(printGroup).join(",\n\n"),
    "})\n"
  ].join("\n")
