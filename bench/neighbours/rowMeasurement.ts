import { Effect } from "effect"
import { printLine, withProgress } from "../../tools/local/ConsoleProgress.ts"
import { startReceivers } from "../delivery/receivers.ts"
import type { BenchEnvironment } from "../servers.ts"
import { getMessage, runAttack } from "./attack.ts"
import { connectAttacker } from "./attacker.ts"
import type { RowResult } from "./bounds.ts"
import type { Options } from "./options.ts"
import { formatSummary, toMegabytes } from "./report.ts"
import type { AttackFixture, Row, SignTokenFor } from "./row.ts"
import { startService } from "./service.ts"
import { pdfsPerSecond } from "./victim/measurement.ts"
import { startVictim } from "./victim.ts"

const warmUpSeconds = 3
const baselineSeconds = 4

const noMeasurements = { reads: [], pings: [], pdfs: [], failures: {} }

/** The result of a row whose measurement failed, for example because the service ended. */
const makeFailedResult = (row: Row, error: unknown): MeasuredRow => ({
  baseline: undefined,
  result: {
    name: row.name,
    measurements: noMeasurements,
    apiMegabytes: undefined,
    attackerResponses: new Map(),
    findings: [{ description: getMessage(error), isViolation: true }]
  }
})

export interface MeasuredRow {
  readonly baseline: RowResult | undefined
  readonly result: RowResult
}

/** Starts the service and prepares the attacker and the victim of one row. */
const startFixture = (
  environment: BenchEnvironment,
  signTokenFor: SignTokenFor,
  row: Row,
  namespace: string,
  options: Options
) =>
  Effect.gen(function* () {
    const start = startService(environment, namespace, options.profile)
    const { api, client } = yield* withProgress("Starting the service", start, () => "Service started")
    const { baseUrl } = api
    const receivers = yield* startReceivers
    const attacker = yield* Effect.acquireRelease(
      Effect.promise(async () => connectAttacker(baseUrl, await signTokenFor("attacker"))),
      ({ close }) => Effect.promise(close)
    )
    const victim = yield* startVictim
    const pdfCount = (warmUpSeconds + baselineSeconds + options.seconds) * pdfsPerSecond
    const prepareVictim = Effect.promise(async () => victim.prepare(baseUrl, await signTokenFor("victim"), pdfCount))
    yield* withProgress("Preparing the victim", prepareVictim, () => "Victim prepared")

    const fixture: AttackFixture = {
      attacker,
      client,
      receivers,
      baseUrl,
      signTokenFor,
      natsUrl: environment.infrastructure.natsUrl,
      namespace
    }
    const prepareAttack = Effect.promise(async () => {
      const attack = await row.prepare(fixture)
      await victim.waitUntilPrompt()
      return attack
    })
    const attack = yield* withProgress("Preparing the attack", prepareAttack, () => "Attack prepared")
    return { api, attack, attacker, victim }
  })

/** Measures the victim without and then during one attack. */
export const measureRow = (
  environment: BenchEnvironment,
  signTokenFor: SignTokenFor,
  row: Row,
  rowNumber: number,
  options: Options
) =>
  Effect.gen(function* () {
    yield* printLine(`\n${row.name}`)
    const { api, attack, attacker, victim } = yield* startFixture(
      environment,
      signTokenFor,
      row,
      `neighbours_${rowNumber}`,
      options
    )
    const toResult = (measurements: RowResult["measurements"], findings: RowResult["findings"] = []): RowResult => ({
      name: row.name,
      measurements,
      apiMegabytes: toMegabytes(api.peakMemoryMiB()),
      attackerResponses: attacker.responseCounts(),
      findings
    })
    const measureBaseline = Effect.zipRight(
      victim.measure(warmUpSeconds),
      Effect.map(victim.measure(baselineSeconds), (measurements) => toResult(measurements))
    )
    const baseline = yield* withProgress(
      "Measuring the baseline",
      measureBaseline,
      (result) => `Baseline: ${formatSummary(result)}`
    )
    const measureAttack = Effect.zipRight(runAttack(attack, attacker), victim.measure(options.seconds)).pipe(
      Effect.scoped
    )
    const measurements = yield* withProgress("The attack", measureAttack, () => "Attack ended")
    const check = Effect.promise(async () => (await attack.check?.()) ?? [])
    const findings = yield* withProgress("Checking", check, () => "Checked")
    const result = toResult(measurements, findings)
    yield* printLine(`  ${formatSummary(result)}`)
    return { baseline, result } satisfies MeasuredRow
  }).pipe(
    Effect.scoped,
    Effect.catchAllDefect((error) =>
      Effect.zipRight(printLine(`  ${getMessage(error)}`), Effect.succeed(makeFailedResult(row, error)))
    )
  )
