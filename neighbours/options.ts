import { parseArgs } from "node:util"

export const help = `npm run neighbours                   measure what one caller can do to another, on servers of its own
npm run neighbours -- <options>
  --row <words>       only rows whose name holds the words, for example --row PDF
  --seconds <n>       length of each attack [15]
  --profile <folder>  also write the CPU profiles of the service there, for the developer tools of a browser

Ends with 1 when a bound is broken.`

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
  if (!Number.isInteger(seconds) || seconds < 1) throw new Error("--seconds takes a whole number from 1 upwards")
  return { help: values.help, row: values.row, seconds, profile: values.profile }
}
