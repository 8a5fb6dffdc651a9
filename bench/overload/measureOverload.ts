import { Effect } from "effect"
import { printLine, withProgress } from "../../src/layers/local/ConsoleProgress.ts"
import { connected, settle } from "../database.ts"
import type { Options } from "../options.ts"
import { hardware } from "../report.ts"
import { startHelper } from "../running/helper.ts"
import type { Server } from "../serverProcess.ts"
import { type Setting, startService } from "../servers.ts"
import { mix, prepareCallers } from "./callers.ts"
import type { Load, LoadResult } from "./generator/orders.ts"
import { brokenIn, overloadTable, type Round, type Variant } from "./overloadReport.ts"
import { withProbes } from "./probe.ts"

const times = 5
const saturatingConnections = 72
/** So many that a request finds one free as long as refusals come promptly. */
const overloadingConnections = 512
const warmUpSeconds = 10

const variants = [
  { name: "one caller", callers: 1 },
  { name: "several callers (8)", callers: 8 }
]

type Send = (load: Omit<Load, "port" | "requests">) => Effect.Effect<LoadResult>

const told = ({ acceptedP99, acceptedPerSecond }: LoadResult) =>
  `${acceptedPerSecond.toFixed(0)}/s at p99 ${acceptedP99.toFixed(0)} ms`

/** The service's best, and right after it five times as much: the machine is hardly another in between. */
const measureRound = (send: Send, base: string, seconds: number): Effect.Effect<Round> =>
  Effect.gen(function* () {
    const saturation = yield* send({ connections: saturatingConnections, seconds })
    const perSecond = times * saturation.acceptedPerSecond
    const overloading = send({ connections: overloadingConnections, seconds, perSecond })
    const { found: overload, probes } = yield* withProbes(base, overloading)
    return { saturation, offeredPerSecond: perSecond, overload, probes }
  })

const measureVariant = (send: Send, { base }: Server, name: string, { rounds, seconds }: Options) =>
  Effect.gen(function* () {
    const warmingUp = send({ connections: saturatingConnections, seconds: warmUpSeconds })
    yield* withProgress(`${name}: warming up`, warmingUp, (found) => `${name}: warmed up, ${told(found)}`)
    const found: Array<Round> = []
    for (let n = 1; n <= rounds; n++) {
      const label = `${name}: round ${n} of ${rounds}`
      const measuring = measureRound(send, base, seconds)
      const toldRound = ({ overload, saturation }: Round) =>
        `${label}: ${told(saturation)}, ${times} times as much: ${told(overload)}`
      found.push(yield* withProgress(label, measuring, toldRound))
    }
    return { name, rounds: found } satisfies Variant
  })

/** Measures what is left of the service's best when five times as much is asked of it; tells what is not as it should be. */
export const measureOverload = (setting: Setting, tokenFor: (subject: string) => Promise<string>, options: Options) =>
  Effect.gen(function* () {
    const client = yield* connected(setting.stage.databaseUrl)
    const ask = yield* startHelper<Load>("overload/generator/main")
    const server = yield* withProgress(
      "Starting the service",
      startService(setting, options.profile),
      () => "Service ready"
    )
    const port = Number(new URL(server.base).port)
    const chosen = variants.filter(({ name }) => name.includes(options.part))
    const found = yield* Effect.forEach(chosen, ({ callers, name }) =>
      Effect.gen(function* () {
        const preparing = Effect.promise(async () => {
          const subjects = Array.from({ length: callers }, (_, n) => `${name} ${n}`)
          return prepareCallers(server, await Promise.all(subjects.map(tokenFor)))
        })
        const requests = yield* withProgress(
          `Preparing ${name}`,
          Effect.zipLeft(preparing, settle(client)),
          () => `Prepared ${name}`
        )
        // What the generator answers is what orders.ts says.
        const send: Send = (load) => Effect.promise(() => ask({ ...load, port, requests }) as Promise<LoadResult>)
        return yield* measureVariant(send, server, name, options)
      })
    )
    const about = `${hardware(setting.stage.postgres)}; ${mix}; ${saturatingConnections} connections for the best, ${overloadingConnections} for ${times} times as much; load generator, database and service share the cores`
    yield* printLine(`\n${about}\n\n${overloadTable(found)}\n`)
    return found.flatMap(brokenIn)
  })
