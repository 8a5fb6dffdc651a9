import { periodNames, periods, queryValues } from "./knownValues.ts"
import { getIdPrefix, makeResolve, type OpenApiDocument, type Operation, type Parameter } from "./openApi.ts"
import { type Pools, placeholder } from "./pools.ts"

type Query = Readonly<Record<string, string>>

/** Enough of a long enumeration. */
const maxEnumValues = 4

const toMoment = (date: string, { schema }: Parameter) =>
  schema.format === "date-time" ? `${date}T00:00:00.000Z` : date

const takeEnds = (values: ReadonlyArray<unknown>) =>
  values.length <= maxEnumValues ? values : [...values.slice(0, 2), ...values.slice(-2)]

/** Makes combinations of the query parameters of operations. */
export const makeQueries = (document: OpenApiDocument, pools: Pools) => {
  const resolve = makeResolve(document)

  const listValues = ({ name, schema: given }: Parameter): ReadonlyArray<string> => {
    const schema = resolve(given)
    const prefix = getIdPrefix(schema)
    const known = queryValues[name]
    if (known !== undefined) return known
    if (prefix !== undefined) {
      const names = Object.keys(pools).filter((pool) => pools[pool]?.prefix === prefix)
      return names.slice(0, 3).map(placeholder)
    }
    if (schema.enum !== undefined) return takeEnds(schema.enum).map(String)
    if (schema.type === "boolean") return ["true", "false"]
    return (schema.examples ?? []).map(String)
  }

  /** Each period has one query with both of its ends. */
  const listPeriods = (parameters: ReadonlyArray<Parameter>): ReadonlyArray<Query> =>
    periodNames.flatMap(([from, to]) => {
      const [first, last] = [from, to].map((name) => parameters.find((parameter) => parameter.name === name))
      if (first === undefined || last === undefined) return []
      return periods.map(([start, end]) => ({ [from]: toMoment(start, first), [to]: toMoment(end, last) }))
    })

  const special = new Set<string>(["limit", "cursor", "sort", ...periodNames.flat()])

  /** From no parameter to all of them, each alone and with the sorts; with the longest pages and the whole list. */
  return ({ method, parameters }: Operation): ReadonlyArray<Query> => {
    const offered = parameters.filter((parameter) => parameter.in === "query")
    const filters = offered
      .filter(({ name }) => !special.has(name))
      .map((parameter) => listValues(parameter).map((value): Query => ({ [parameter.name]: value })))
    const all = [...filters, listPeriods(offered)].filter((values) => values.length > 0)
    const combined = Object.assign({}, ...all.map(([first]) => first))
    const singles = [{}, ...all.flat(), ...(all.length > 1 ? [combined] : [])]

    const sort = offered.find(({ name }) => name === "sort")
    const sorts: ReadonlyArray<Query> =
      sort === undefined
        ? []
        : [sort.schema.enum?.at(0), sort.schema.enum?.at(-1)].map((value) => ({ sort: String(value) }))
    const queries = [...singles, ...sorts.flatMap((sorted) => singles.map((single) => ({ ...single, ...sorted })))]

    const limit = offered.find(({ name }) => name === "limit")
    if (limit === undefined || method !== "GET") return queries
    // Pages take less time than whole lists, so that all of them are tried.
    return [...queries.map((query) => ({ ...query, limit: String(limit.schema.maximum) })), ...queries]
  }
}
