import { parseArgs } from "node:util"

export const help = `npm run bench                 benchmark the service and reference servers (Fastify, node:http) on a temporary database
npm run bench -- <options>
  --row <words>       only rows whose name contains the words, for example --row POST
  --rounds <n>        rounds per server and row; servers alternate, the median is reported [12; see below for others]
  --seconds <n>       length of a round [1; with --scale and --overload: 4]
  --profile <folder>  write CPU profiles of the service to this folder, for the developer tools of a browser
  --against <folder>  compare the CPU time per request with a baseline: another checkout, already built; --rounds is the
                      number of starts of both builds [8]

Other benchmarks, in place of the rows:
  --scale             reads of the service with 10 000 and with 1 000 000 projects [3 rounds]
  --delivery          latency and throughput from an event's commit to webhook receivers [3 rounds]
  --intake            latency and throughput of inbound Jira webhooks [3 rounds]
  --overload          goodput and latency at five times the capacity of the service [3 rounds]
  --queues            throughput of queues with a backlog, pending deliveries, erasure, retention or migration [10 rounds]
  --budget            statements, exchanges with PostgreSQL and allocations of a request, compared with the figures in
                      bench/budget/budgets.json; fails when they differ
  --because <reason>  with --budget: write the figures that differ, and beside those that rose this reason
  --part <words>      only the parts whose name contains the words; of --delivery: latency, drain, dead; of --intake:
                      latency, throughput, backlog; of --overload: one, several; of --queues: backlog, pending,
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
  readonly budget: boolean
  readonly because: string | undefined
}

const parsePositive = (name: string, text: string) => {
  const value = Number(text)
  if (!Number.isInteger(value) || value < 1) throw new Error(`--${name} must be a whole number, at least 1`)
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
      part: { type: "string", default: "" },
      budget: { type: "boolean", default: false },
      because: { type: "string" }
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
    part: values.part,
    budget: values.budget,
    because: values.because
  }
}
