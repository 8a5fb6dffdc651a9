import { parseArgs } from "node:util"

export const help = `npm run neighbours                   measure how much one caller (attacker) slows down another (victim), on
                                     temporary servers
npm run neighbours -- <options>
  --row <words>       only rows whose name contains the words, for example --row PDF
  --seconds <n>       length of each attack [15]
  --profile <folder>  write CPU profiles of the service to this folder, for the developer tools of a browser

Exits with 1 when a bound is violated.`

export interface Options {
  readonly help: boolean
  readonly row: string
  readonly seconds: number
  readonly profile: string | undefined
}

export const readOptions = (args: ReadonlyArray<string>): Options => {
  const { values } = parseArgs({
    args: [...args],
    options: {
      help: { type: "boolean", default: false },
      row: { type: "string", default: "" },
      seconds: { type: "string", default: "15" },
      profile: { type: "string" }
    }
  })
  const seconds = Number(values.seconds)
  if (!Number.isInteger(seconds) || seconds < 1) throw new Error("--seconds must be a whole number, at least 1")
  return { help: values.help, row: values.row, seconds, profile: values.profile }
}
