import { parseArgs } from "node:util"

export const help = `npm run bench                 measure the service beside Fastify and bare node:http, on a database of its own
npm run bench -- <options>
  --row <words>       only rows whose name holds the words, for example --row POST
  --rounds <n>        measurements of each server in each row, in turns, of which the median counts [12; below: 3]
  --seconds <n>       length of each measurement [1; with --scale: 4]
  --profile <folder>  also write the CPU profile of the service there, for the developer tools of a browser
  --against <folder>  measure what a request costs beside another checkout that is built there; --rounds counts the
                      times that both are started afresh [8]
  --scale             measure none of the rows, but reads of the service alone with 10 000 and with 1 000 000 projects
  --delivery          measure none of the rows, but how fast events get to receivers of webhooks; --rounds counts
  --intake            measure none of the rows, but how fast webhooks of a tracker are answered and worked; --rounds counts
  --overload          measure none of the rows, but what is left of the service's best when five times as much is asked
                      of it as it can do; --rounds counts
  --queues            measure none of the rows, but whether queues keep their pace whatever else is in them; --rounds
                      counts [10]
  --part <words>      only the parts whose name holds the words, of --delivery: latency, drain, dead; of --intake:
                      arriving, flooding, backlog; of --overload: one, several; of --queues: backlog, pending,
                      erasing, retaining, migrating`

export interface Options {
  readonly help: boolean
  readonly row: string
  readonly rounds: number
  readonly seconds: number
  readonly profile: string | undefined
  readonly against: string | undefined
  readonly scale: boolean
  readonly delivery: boolean
  readonly intake: boolean
  readonly overload: boolean
  readonly queues: boolean
  readonly part: string
}

const parsePositive = (name: string, text: string) => {
  const value = Number(text)
  if (!Number.isInteger(value) || value < 1) throw new Error(`--${name} takes a whole number from 1 upwards`)
  return value
}

export const readOptions = (args: ReadonlyArray<string>): Options => {
  const { values } = parseArgs({
    args: [...args],
    options: {
      help: { type: "boolean", default: false },
      row: { type: "string", default: "" },
      rounds: { type: "string" },
      seconds: { type: "string" },
      profile: { type: "string" },
      against: { type: "string" },
      scale: { type: "boolean", default: false },
      delivery: { type: "boolean", default: false },
      intake: { type: "boolean", default: false },
      overload: { type: "boolean", default: false },
      queues: { type: "boolean", default: false },
      part: { type: "string", default: "" }
    }
  })
  const measuresRows = !(values.scale || values.delivery || values.intake || values.overload || values.queues)
  const defaultRounds = values.against !== undefined ? "8" : values.queues ? "10" : measuresRows ? "12" : "3"
  return {
    help: values.help,
    row: values.row,
    rounds: parsePositive("rounds", values.rounds ?? defaultRounds),
    seconds: parsePositive("seconds", values.seconds ?? (measuresRows ? "1" : "4")),
    profile: values.profile,
    against: values.against,
    scale: values.scale,
    delivery: values.delivery,
    intake: values.intake,
    overload: values.overload,
    queues: values.queues,
    part: values.part
  }
}
