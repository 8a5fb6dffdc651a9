import type { OpenApiDocument } from "../../api/OpenApi.ts"

type Operation = OpenApiDocument["paths"][string][string]

/** The parts of an operation that a sample shows. The types of the document leave them open. */
interface SampledOperation {
  readonly operationId: string
  readonly parameters: ReadonlyArray<{ readonly name: string; readonly in: string }>
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

/** The first example of the body, or the name of a variable. */
const bodyOf = ({ requestBody }: SampledOperation) => {
  if (requestBody === undefined) return []
  const media = requestBody.content["application/json"]
  const [named] = Object.values(media?.examples ?? {})
  const example: unknown = media?.example ?? named?.value
  return [example === undefined ? "body" : JSON.stringify(example, null, 2)]
}

const returnsList = ({ responses }: SampledOperation) =>
  responses["200"]?.content?.["application/json"]?.schema?.properties?.data?.type === "array"

const callOf = (operation: SampledOperation) => {
  const ids = operation.parameters.filter((parameter) => parameter.in === "path").map(({ name }) => name)
  const call = `api.${operation.operationId}(${[...ids, ...bodyOf(operation)].join(", ")})`
  if (returnsList(operation)) return `for await (const item of ${call}) console.log(item)`
  return "204" in operation.responses ? `await ${call}` : `const result = await ${call}`
}

const sampleOf = (operation: SampledOperation) => `import { createClient } from "contracting-client"

const api = createClient({ baseUrl, token, tenantId })

${callOf(operation)}
`

const addSample = (operation: Operation) => ({
  ...operation,
  // The generated document has these parts; its type in `OpenApi.ts` covers only what that file changes.
  "x-codeSamples": [{ lang: "TypeScript", source: sampleOf(operation as unknown as SampledOperation) }]
})

const mapValues = <A, B>(record: Readonly<Record<string, A>>, transform: (value: A) => B) =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, transform(value)]))

/** The document with a sample in TypeScript for each operation. The viewer makes those of other languages itself. */
export const withCodeSamples = (document: OpenApiDocument) => ({
  ...document,
  paths: mapValues(document.paths, (operations) => mapValues(operations, addSample))
})
