import { parseArgs } from "node:util"

export const help = `npm run neighbours                   measure how much one caller (attacker) slows down another (victim), on
                                     temporary servers
npm run neighbours -- <options>
  --search            attack with every operation of the API in turn, with the most expensive requests that it accepts,
                      from a large tenant; adding that tenant takes a minute or two, all operations half an hour
  --row <words>       only rows, or with --search operations, whose name contains the words, for example --row PDF;
                      a comma separates alternatives
  --seconds <n>       length of each attack [15; with --search: 4]
  --profile <folder>  write CPU profiles of the service to this folder, for the developer tools of a browser

Exits with 1 when a bound is violated.`

export interface Options {
  readonly help: boolean
  readonly search: boolean
  readonly row: string
  readonly seconds: number
  readonly profile: string | undefined
}

export const readOptions = (args: ReadonlyArray<string>): Options => {
  const { values } = parseArgs({
    args: [...args],
    options: {
      help: { type: "boolean", default: false },
      search: { type: "boolean", default: false },
      row: { type: "string", default: "" },
      seconds: { type: "string" },
      profile: { type: "string" }
    }
  })
  const seconds = Number(values.seconds ?? (values.search ? "4" : "15"))
  if (!Number.isInteger(seconds) || seconds < 1) throw new Error("--seconds must be a whole number, at least 1")
  return { help: values.help, search: values.search, row: values.row, seconds, profile: values.profile }
}

/** What is selected by its name. */
export const selectByWords = <A extends { readonly name: string }>(
  all: ReadonlyArray<A>,
  { row }: Pick<Options, "row">
) => {
  const alternatives = row.toLowerCase().split(",")
  return all.filter(({ name }) => alternatives.some((words) => name.toLowerCase().includes(words.trim())))
}
