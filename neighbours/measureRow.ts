import { setMaxListeners } from "node:events"
import { Effect } from "effect"
import { connectDatabase } from "../bench/database.ts"
import { startReceivers } from "../bench/delivery/receivers.ts"
import { createDatabase } from "../bench/infrastructure.ts"
import type { BenchEnvironment } from "../bench/servers.ts"
import { startProcesses } from "../bench/support/processes.ts"
import { printLine, withProgress } from "../src/layers/local/ConsoleProgress.ts"
import { workerNames } from "../src/workers/registry.ts"
import { type Attacker, makeAttacker } from "./attacker.ts"
import type { Result } from "./bounds.ts"
import type { Options } from "./options.ts"
import { summarize } from "./report.ts"
import type { Attack, Row, Scene } from "./row.ts"
import { pdfsPerSecond } from "./victim/measure.ts"
import { startVictim } from "./victim.ts"

const warmUpSeconds = 3
const aloneSeconds = 4

export interface Callers {
  readonly attacker: string
  readonly victim: string
}

/** A database and streams for one row alone, and every process of the service on them. */
const startService = (setting: BenchEnvironment, name: string, profile: string | undefined) =>
  Effect.gen(function* () {
    const client = yield* connectDatabase(setting.infrastructure.databaseUrl)
    const databaseUrl = yield* createDatabase(client, setting.infrastructure, name)
    const stage = { ...setting.infrastructure, databaseUrl }
    const extra = { DELIVERY_ALLOW: "127.0.0.0/8", NATS_NAMESPACE: name }
    const { api } = yield* startProcesses({ ...setting, infrastructure: stage }, profile, {
      workers: workerNames,
      extraEnv: extra
    })
    return { api, client: yield* connectDatabase(databaseUrl) }
  })

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error))

/** Runs the attack until the scope closes. One that cannot go on is no failure of ours: it is told with its answers. */
const runAttack = ({ run }: Attack, attacker: Attacker) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const stop = new AbortController()
      // One for each request under way.
      setMaxListeners(0, stop.signal)
      const ended = run(stop.signal).catch((error) => attacker.count(`gave up (${messageOf(error)})`))
      return { stop, ended }
    }),
    ({ ended, stop }) =>
      Effect.promise(() => {
        stop.abort()
        return ended
      })
  )

const megabytes = (mebibytes: number | undefined) => (mebibytes === undefined ? undefined : mebibytes * 1.048576)

const nothing = { reads: [], pings: [], pdfs: [], failures: {} }

/** A row that could not be measured to its end, for example because the service had stopped. */
const unmeasured = (row: Row, error: unknown): Measured => ({
  alone: undefined,
  result: {
    name: row.name,
    figures: nothing,
    apiMegabytes: undefined,
    answers: new Map(),
    findings: [{ what: messageOf(error), isBroken: true }]
  }
})

export interface Measured {
  readonly alone: Result | undefined
  readonly result: Result
}

/** The service, the attacker and the victim of one row, all at rest. */
const setScene = (setting: BenchEnvironment, callers: Callers, row: Row, namespace: string, options: Options) =>
  Effect.gen(function* () {
    const starting = startService(setting, namespace, options.profile)
    const { api, client } = yield* withProgress("Starting the service", starting, () => "Service started")
    const receivers = yield* startReceivers
    const attacker = yield* Effect.acquireRelease(
      Effect.sync(() => makeAttacker(api.baseUrl, callers.attacker)),
      ({ close }) => Effect.promise(close)
    )
    const victim = yield* startVictim
    const pdfs = (warmUpSeconds + aloneSeconds + options.seconds) * pdfsPerSecond
    const preparingVictim = Effect.promise(() => victim.prepare(api.baseUrl, callers.victim, pdfs))
    yield* withProgress("Preparing the victim", preparingVictim, () => "Victim prepared")

    const scene: Scene = { attacker, client, receivers, natsUrl: setting.infrastructure.natsUrl, namespace }
    const preparing = Effect.promise(async () => {
      const attack = await row.prepare(scene)
      await victim.settle()
      return attack
    })
    const attack = yield* withProgress("Preparing the attack", preparing, () => "Attack prepared")
    return { api, attack, attacker, victim }
  })

/** One attack with the victim beside it, after the victim alone. */
export const measureRow = (setting: BenchEnvironment, callers: Callers, row: Row, number: number, options: Options) =>
  Effect.gen(function* () {
    yield* printLine(`\n${row.name}`)
    const { api, attack, attacker, victim } = yield* setScene(setting, callers, row, `neighbours_${number}`, options)
    const toResult = (figures: Result["figures"], findings: Result["findings"] = []): Result => ({
      name: row.name,
      figures,
      apiMegabytes: megabytes(api.peakMemoryMiB()),
      answers: attacker.answers(),
      findings
    })
    const measuringAlone = Effect.zipRight(
      victim.measure(warmUpSeconds),
      Effect.map(victim.measure(aloneSeconds), (figures) => toResult(figures))
    )
    const alone = yield* withProgress("The victim alone", measuringAlone, (result) => `Alone: ${summarize(result)}`)
    const attacking = Effect.zipRight(runAttack(attack, attacker), victim.measure(options.seconds)).pipe(Effect.scoped)
    const figures = yield* withProgress("The attack", attacking, () => "Attack ended")
    const checking = Effect.promise(async () => (await attack.check?.()) ?? [])
    const findings = yield* withProgress("Checking", checking, () => "Checked")
    const result = toResult(figures, findings)
    yield* printLine(`  ${summarize(result)}`)
    return { alone, result } satisfies Measured
  }).pipe(
    Effect.scoped,
    Effect.catchAllDefect((error) =>
      Effect.zipRight(printLine(`  ${messageOf(error)}`), Effect.succeed(unmeasured(row, error)))
    )
  )
