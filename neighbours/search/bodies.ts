import { bodyFields, defaultMaxBodyBytes, maxBodyBytes, propertyValues } from "./knownValues.ts"
import { getIdPrefix, type JsonSchema, makeResolve, type OpenApiDocument, type Operation } from "./openApi.ts"
import { numberPlaceholder, type Pools, placeholder } from "./pools.ts"

/** What grows of the example of a body. */
interface Growth {
  readonly hasLongTexts: boolean
  readonly hasAllItems: boolean
}

/** The example as it is, many small items, and as large as the schema allows. */
const growths: ReadonlyArray<Growth> = [
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

const sizeOf = (value: unknown) => JSON.stringify(value)?.length ?? 0

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
    return Array.from({ length: maxItems }, (_, n) => makeDistinct(grow(items, example[0], growth), n))
  }

  /** Items must often differ in their texts. */
  const makeDistinct = (item: unknown, n: number): unknown =>
    JSON.parse(JSON.stringify(item).replaceAll(numberPlaceholder, `${numberPlaceholder}x${n}`))

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

  /** Halves the longest list until the body fits. */
  const shrink = (body: unknown, maxBytes: number): unknown => {
    if (!isObject(body) || sizeOf(body) <= maxBytes) return body
    const lists = Object.entries(body).filter((entry): entry is [string, Array<unknown>] => Array.isArray(entry[1]))
    const [longest] = lists.toSorted(([, a], [, b]) => sizeOf(b) - sizeOf(a))
    if (longest === undefined || longest[1].length < 2) return body
    const [name, items] = longest
    const fitting = Math.max(1, Math.floor((items.length * maxBytes * 0.95) / sizeOf(body)))
    return shrink({ ...body, [name]: items.slice(0, Math.min(fitting, items.length - 1)) }, maxBytes)
  }

  /** Templates of JSON bodies, from the smallest to the largest. */
  return ({ body, name }: Operation): ReadonlyArray<string> => {
    if (body === undefined) return []
    const grown = growths.map((growth) => {
      const value = { ...Object(grow(body.schema, body.example, growth)), ...bodyFields[name] }
      return JSON.stringify(shrink(value, maxBodyBytes[name] ?? defaultMaxBodyBytes))
    })
    return [...new Set(grown)]
  }
}
