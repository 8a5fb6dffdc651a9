import { bodyFields, defaultMaxBodyBytes, maxBodyBytes, propertyValues } from "./knownValues.ts"
import { getIdPrefix, type JsonSchema, makeResolve, type OpenApiDocument, type Operation } from "./openApi.ts"
import { numberPlaceholder, type Pools, placeholder } from "./pools.ts"

/** What grows of the example of a body. */
interface Growth {
  readonly hasLongTexts: boolean
  readonly hasAllItems: boolean
  /** What a list may take. */
  readonly maxBytes: number
}

/** The example as it is, many small items, and as large as the schema allows. */
const growths: ReadonlyArray<Omit<Growth, "maxBytes">> = [
  { hasLongTexts: false, hasAllItems: false },
  { hasLongTexts: false, hasAllItems: true },
  { hasLongTexts: true, hasAllItems: true }
]

const padding = "Nordwind framework agreement, paid on 30 days. "

/** Room for the number of a request and of an item, which are longer than their placeholder. */
const numberRoom = 12

/** Starts with the number of the request, because many texts must be unique. */
const growText = (text: string, maxLength: number) =>
  maxLength < 3 * numberRoom
    ? text
    : `${numberPlaceholder} ${text} `.padEnd(maxLength, padding).slice(0, maxLength - numberRoom)

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Room for what surrounds the longest list of a body. */
const reservedBytes = 20_000

const maxKeys = 50

/** Makes bodies of the examples and schemas of the document, with placeholders for identifiers and unique texts. */
export const makeBodies = (document: OpenApiDocument, pools: Pools) => {
  const resolve = makeResolve(document)
  const poolNames = Object.keys(pools)

  const placeId = (prefix: string) => {
    const pool = poolNames.find((name) => pools[name]?.prefix === prefix)
    return placeholder(pool ?? `no pool of ${prefix}_`)
  }

  const growKeys = ({ additionalProperties, maxProperties = maxKeys }: JsonSchema, growth: Growth) => {
    if (!growth.hasLongTexts || !isObject(additionalProperties) || additionalProperties["type"] !== "string") return {}
    const count = Math.min(maxProperties, maxKeys) - 1
    const { maxLength = 0 } = additionalProperties as JsonSchema // a schema, as it is no boolean
    return Object.fromEntries(Array.from({ length: count }, (_, n) => [`key${n}`, growText("", maxLength)]))
  }

  const growObject = (schema: JsonSchema, example: Readonly<Record<string, unknown>>, growth: Growth) => ({
    ...Object.fromEntries(
      Object.entries(example).map(([name, value]) => [
        name,
        propertyValues[name] ?? grow(schema.properties?.[name] ?? {}, value, growth)
      ])
    ),
    ...growKeys(schema, growth)
  })

  const growArray = ({ items = {}, maxItems = 1 }: JsonSchema, example: ReadonlyArray<unknown>, growth: Growth) => {
    const prefix = getIdPrefix(resolve(items))
    if (prefix !== undefined) return Array.from({ length: maxItems }, () => placeId(prefix))
    if (!growth.hasAllItems || example.length === 0) return example.map((value) => grow(items, value, growth))
    const item = JSON.stringify(grow(items, example[0], growth))
    const fitting = Math.floor(growth.maxBytes / (item.length + numberRoom))
    return Array.from({ length: Math.min(maxItems, fitting) }, (_, n) => makeDistinct(item, n))
  }

  /** Items must often differ in their texts. */
  const makeDistinct = (item: string, n: number): unknown =>
    JSON.parse(item.replaceAll(numberPlaceholder, `${numberPlaceholder}x${n}`))

  const growString = (schema: JsonSchema, example: string, { hasLongTexts }: Growth) => {
    const { enum: allowed, format, maxLength, pattern } = schema
    const prefix = getIdPrefix(schema)
    if (prefix !== undefined) return placeId(prefix)
    if (format === "email") return `n${numberPlaceholder}@example.com`
    if (maxLength === undefined || allowed !== undefined || format !== undefined || pattern !== undefined)
      return example
    return hasLongTexts ? growText(example, maxLength) : example
  }

  const grow = (given: JsonSchema, example: unknown, growth: Growth): unknown => {
    const schema = resolve(given)
    if (Array.isArray(example)) return growArray(schema, example, growth)
    if (isObject(example)) return growObject(schema, example, growth)
    return typeof example === "string" ? growString(schema, example, growth) : example
  }

  /** Templates of JSON bodies, from the smallest to the largest. */
  return ({ body, name }: Operation): ReadonlyArray<string> => {
    if (body === undefined) return []
    const maxBytes = (maxBodyBytes[name] ?? defaultMaxBodyBytes) - reservedBytes
    const grown = growths.map((growth) =>
      JSON.stringify({ ...Object(grow(body.schema, body.example, { ...growth, maxBytes })), ...bodyFields[name] })
    )
    return [...new Set(grown)]
  }
}
