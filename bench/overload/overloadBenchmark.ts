import { Effect } from "effect"
import { printLine, withProgress } from "../../tools/local/ConsoleProgress.ts"
import { connectDatabase, vacuumAndCheckpoint } from "../database.ts"
import type { Options } from "../options.ts"
import { describeHardware } from "../report.ts"
import type { Server } from "../serverProcess.ts"
import { type BenchEnvironment, startService } from "../servers.ts"
import { startHelperProcess } from "../support/helperProcess.ts"
import type { Load, LoadResult } from "./generator/load.ts"
import { findViolations, formatOverloadTable, type OverloadRound, type OverloadVariant } from "./overloadReport.ts"
import { prepareRequests, requestMix } from "./overloadRequests.ts"
import { withProbes } from "./probe.ts"

const overloadFactor = 5
const saturationConnections = 72
/** Enough that a request finds a free connection while rejections come promptly. */
const overloadConnections = 512
const warmUpSeconds = 10

const variants = [
  { name: "one caller", callers: 1 },
  { name: "several callers (8)", callers: 8 }
]

type SendLoad = (load: Omit<Load, "port" | "requests">) => Effect.Effect<LoadResult>

const formatResult = ({ acceptedP99, acceptedPerSecond }: LoadResult) =>
  `${acceptedPerSecond.toFixed(0)}/s at p99 ${acceptedP99.toFixed(0)} ms`

/** Measures saturation and, right after it, overload, so that the machine changes little in between. */
const measureRound = (send: SendLoad, baseUrl: string, seconds: number): Effect.Effect<OverloadRound> =>
  Effect.gen(function* () {
    const saturation = yield* send({ connections: saturationConnections, seconds })
    const perSecond = overloadFactor * saturation.acceptedPerSecond
    const overloadRun = send({ connections: overloadConnections, seconds, perSecond })
    const { result, probes } = yield* withProbes(baseUrl, overloadRun)
    return { saturation, offeredPerSecond: perSecond, overload: result, probes }
  })

const measureVariant = (send: SendLoad, { baseUrl }: Server, name: string, { rounds, seconds }: Options) =>
  Effect.gen(function* () {
    const warmUp = send({ connections: saturationConnections, seconds: warmUpSeconds })
    yield* withProgress(`${name}: warming up`, warmUp, (results) => `${name}: warmed up, ${formatResult(results)}`)
    const results: Array<OverloadRound> = []
    for (let n = 1; n <= rounds; n++) {
      const label = `${name}: round ${n} of ${rounds}`
      const measurement = measureRound(send, baseUrl, seconds)
      const formatRound = ({ overload, saturation }: OverloadRound) =>
        `${label}: ${formatResult(saturation)}, ${overloadFactor} times as much: ${formatResult(overload)}`
      results.push(yield* withProgress(label, measurement, formatRound))
    }
    return { name, rounds: results } satisfies OverloadVariant
  })

/** Measures the service at a multiple of its capacity. Returns the violated bounds. */
export const measureOverload = (
  environment: BenchEnvironment,
  signTokenFor: (subject: string) => Promise<string>,
  options: Options
) =>
  Effect.gen(function* () {
    const client = yield* connectDatabase(environment.infrastructure.databaseUrl)
    const sendCommand = yield* startHelperProcess<Load>("overload/generator/main")
    const server = yield* withProgress(
      "Starting the service",
      startService(environment, options.profile),
      () => "Service ready"
    )
    const port = Number(new URL(server.baseUrl).port)
    const selected = variants.filter(({ name }) => name.includes(options.part))
    const results = yield* Effect.forEach(selected, ({ callers, name }) =>
      Effect.gen(function* () {
        const prepare = Effect.promise(async () => {
          const subjects = Array.from({ length: callers }, (_, n) => `${name} ${n}`)
          return prepareRequests(server, await Promise.all(subjects.map(signTokenFor)))
        })
        const requests = yield* withProgress(
          `Preparing ${name}`,
          Effect.zipLeft(prepare, vacuumAndCheckpoint(client)),
          () => `Prepared ${name}`
        )
        // The result type is defined in generator/load.ts.
        const send: SendLoad = (load) =>
          Effect.promise(() => sendCommand({ ...load, port, requests }) as Promise<LoadResult>)
        return yield* measureVariant(send, server, name, options)
      })
    )
    const conditions = `${describeHardware(environment.infrastructure.postgresDescription)}; ${requestMix}; ${saturationConnections} connections for the best, ${overloadConnections} for ${overloadFactor} times as much; load generator, database and service share the cores`
    yield* printLine(`\n${conditions}\n\n${formatOverloadTable(results)}\n`)
    return results.flatMap(findViolations)
  })
