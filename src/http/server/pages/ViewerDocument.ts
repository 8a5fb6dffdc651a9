import type { OpenApiDocument } from "../../api/OpenApi.ts"

type Operation = OpenApiDocument["paths"][string][string]

/** The parts of an operation that a sample shows. The types of the document leave them open. */
interface SampledOperation {
  readonly operationId: string
  readonly parameters: ReadonlyArray<{
    readonly name: string
    readonly in: string
    readonly required?: boolean
    readonly schema: { readonly examples?: ReadonlyArray<unknown> }
  }>
  readonly requestBody?: {
    readonly content: Readonly<Record<string, { readonly example?: unknown; readonly examples?: object }>>
  }
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { readonly schema?: DataSchema }>> }>
  >
}
interface DataSchema {
  readonly properties?: { readonly data?: { readonly type?: string } }
}

/** The first example of a JSON body. A binary body is the content of a file. */
const bodyOf = ({ requestBody }: SampledOperation) => {
  if (requestBody === undefined) return []
  const media = requestBody.content["application/json"]
  if (media === undefined) return [`await readFile("logo.png")`]
  const [named] = Object.values(media.examples ?? {})
  return [JSON.stringify(media.example ?? named?.value, null, 2)]
}

/** The headers that only the caller knows. The client sends the others itself. */
const headersOf = ({ parameters }: SampledOperation) => {
  const required = parameters.filter(
    (header) => header.in === "header" && header.required && header.name !== "tenant-id"
  )
  if (required.length === 0) return []
  const headers = Object.fromEntries(required.map(({ name, schema }) => [name, schema.examples?.[0]]))
  return [JSON.stringify({ headers }, null, 2)]
}

const returnsList = ({ responses }: SampledOperation) =>
  responses["200"]?.content?.["application/json"]?.schema?.properties?.data?.type === "array"

const callOf = (operation: SampledOperation) => {
  const ids = operation.parameters.filter((parameter) => parameter.in === "path").map(({ name }) => name)
  const call = `api.${operation.operationId}(${[...ids, ...bodyOf(operation), ...headersOf(operation)].join(", ")})`
  if (returnsList(operation)) return `for await (const item of ${call}) console.log(item)`
  return "204" in operation.responses ? `await ${call}` : `const result = await ${call}`
}

const sampleOf = (operation: SampledOperation) => {
  const call = callOf(operation)
  const imports = call.includes("readFile(") ? `import { readFile } from "node:fs/promises"\n` : ""
  return `${imports}import { createClient } from "contracting-client"

const api = createClient({ baseUrl, token, tenantId })

${call}
`
}

/** The viewer fills examples into the requests that a user tries: an optional parameter must not have one there. */
const withoutOptionalExamples = ({ parameters }: SampledOperation) =>
  parameters.map((parameter) => {
    const { examples: _, ...schema } = parameter.schema
    return parameter.required ? parameter : { ...parameter, schema }
  })

const toViewerOperation = (generated: Operation) => {
  // The generated document has these parts; its type in `OpenApi.ts` covers only what that file changes.
  const operation = generated as unknown as SampledOperation
  return {
    ...operation,
    parameters: withoutOptionalExamples(operation),
    "x-codeSamples": [{ lang: "TypeScript", source: sampleOf(operation) }]
  }
}

const mapValues = <A, B>(record: Readonly<Record<string, A>>, transform: (value: A) => B) =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, transform(value)]))

/**
 * The document for the viewer: with a sample in TypeScript for each operation, and without examples of optional
 * parameters. The viewer makes the samples of other languages itself.
 */
export const toViewerDocument = (document: OpenApiDocument) => ({
  ...document,
  paths: mapValues(document.paths, (operations) => mapValues(operations, toViewerOperation))
})
