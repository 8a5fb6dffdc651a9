import { Effect, type Scope } from "effect"
import { quotas } from "../../../src/domain/quotas/Quotas.ts"
import { printLine, withProgress } from "../../../tools/local/ConsoleProgress.ts"
import { startReceivers } from "../../delivery/receivers.ts"
import type { Server } from "../../serverProcess.ts"
import type { BenchEnvironment } from "../../servers.ts"
import { getMessage, runAttack } from "../attack.ts"
import { type Attacker, connectAttacker } from "../attacker.ts"
import type { RowResult } from "../bounds.ts"
import { type Options, selectByWords } from "../options.ts"
import { formatSummary, toMegabytes } from "../report.ts"
import type { SignTokenFor } from "../row.ts"
import { startService } from "../service.ts"
import { startVictim, type Victim } from "../victim.ts"
import { type Burst, makeBurst } from "./burst.ts"
import { type Exploration, explore, findSlowest, type Prepare, type Tried } from "./exploration.ts"
import { laterRefusals, refusals } from "./knownValues.ts"
import { listOperations, type OpenApiDocument, type Operation } from "./openApi.ts"
import type { Pools } from "./pools.ts"
import { type Candidate, describeCandidate, makeCandidates, makePrepare } from "./requests.ts"
import { findIllegalRequests, type SearchResult } from "./result.ts"
import { makeUpload } from "./seed/documents.ts"
import { seedNeighbour } from "./seed/neighbour.ts"

const warmUpSeconds = 5
const quietSeconds = 10
const restSeconds = 20
/** Answers that fit into the buffers of a connection need no reader. */
const minUnreadBytes = 1_000_000
const victimInvoices = 200

/** Quotas that bound the size of one resource keep their defaults. The others would only reject the requests. */
const raisedQuotas = Object.entries(quotas).filter(([name]) => name !== "mediaSlots" && name !== "subscriptions")

const environment = {
  ...Object.fromEntries(raisedQuotas.map(([, { highest, setting }]) => [setting, String(highest)])),
  PUBLIC_URL: "https://contracting.example.com",
  JIRA_CLIENT_ID: "search",
  JIRA_CLIENT_SECRET: "search",
  OAUTH_TRUSTED_ORIGINS: "https://app.example.com"
}

interface Neighbour {
  readonly tenant: string
  readonly pools: Pools
  readonly prepare: Prepare
  readonly makeCandidates: (operation: Operation) => ReadonlyArray<Candidate>
}

interface Stage extends Neighbour {
  readonly api: Server
  readonly victim: Victim
  readonly connect: Effect.Effect<Attacker, never, Scope.Scope>
  readonly seconds: number
}

const connectAs = (baseUrl: string, signTokenFor: SignTokenFor) =>
  Effect.acquireRelease(
    Effect.promise(async () => connectAttacker(baseUrl, await signTokenFor("attacker"))),
    ({ close }) => Effect.promise(close)
  )

const noMeasurements = { reads: [], pings: [], pdfs: [], failures: {} }

/** An operation that was not attacked. */
const makeFailure = (name: string, description: string): SearchResult => ({
  name,
  request: "",
  aloneMillis: Number.NaN,
  measurements: { ...noMeasurements, reads: [0], pings: [0], pdfs: [0] },
  apiMegabytes: 0,
  attackerResponses: new Map(),
  findings: [{ description, isViolation: true }]
})

const isPage = ({ candidate }: Tried) => candidate.path.includes("limit=")

/** The slowest request, the slowest page of a list, and the request with the largest answer, which is left unread. */
const chooseBursts = ({ accepted }: Exploration) => {
  const slowest = [findSlowest(accepted), findSlowest(accepted.filter(isPage))]
  const largest = accepted.toSorted((a, b) => b.bytes - a.bytes)[0]
  return [
    ...[...new Set(slowest)].flatMap((chosen) => (chosen === undefined ? [] : [{ chosen, isRead: true }])),
    ...(largest === undefined || largest.bytes < minUnreadBytes ? [] : [{ chosen: largest, isRead: false }])
  ]
}

const describeRefusals = ({ tried }: Exploration) => {
  const [first] = tried
  return `no request was accepted: ${first?.status} ${first?.text.replaceAll(/\s+/g, " ") ?? ""}`
}

const measureBurst = (
  { api, connect, pools, prepare, seconds, tenant, victim }: Stage,
  name: string,
  burst: Burst,
  aloneMillis: number
) =>
  Effect.gen(function* () {
    const attacker = yield* connect
    yield* Effect.promise(victim.waitUntilPrompt)
    api.resetPeakMemory()
    const attack = makeBurst(attacker, tenant, prepare, pools, burst)
    const measurements = yield* Effect.scoped(Effect.zipRight(runAttack(attack, attacker), victim.measure(seconds)))
    const attackerResponses = attacker.responseCounts()
    const result: SearchResult = {
      name,
      request: `${describeCandidate(burst.candidate)}${burst.isRead ? "" : ", unread"}`,
      aloneMillis,
      measurements,
      apiMegabytes: toMegabytes(api.peakMemoryMiB()),
      attackerResponses,
      findings: findIllegalRequests(attackerResponses, [refusals[name], laterRefusals[name]])
    }
    return result
  }).pipe(Effect.scoped)

const exploreOperation = (stage: Stage, operation: Operation) =>
  Effect.gen(function* () {
    const attacker = yield* stage.connect
    const candidates = stage.makeCandidates(operation)
    const explored = yield* Effect.promise(() => explore(attacker, stage.tenant, stage.prepare, candidates))
    const refusal = refusals[operation.name]
    const accepted =
      refusal === undefined ? explored.accepted : explored.tried.filter(({ status }) => status === refusal)
    return { ...explored, accepted }
  }).pipe(Effect.scoped)

const searchOperation = (stage: Stage, operation: Operation) =>
  Effect.gen(function* () {
    const exploration = yield* exploreOperation(stage, operation)
    const { accepted, candidateCount, tried } = exploration
    const bursts = chooseBursts(exploration)
    yield* printLine(
      `\n${operation.name}: ${accepted.length} of ${tried.length} requests accepted, ${candidateCount} known`
    )
    if (bursts.length === 0) return [makeFailure(operation.name, describeRefusals(exploration))]
    return yield* Effect.forEach(bursts, ({ isRead, chosen: { candidate, millis } }) =>
      Effect.tap(measureBurst(stage, operation.name, { candidate, isRead, tried }, millis), (result) =>
        printLine(`  ${result.request}: alone ${millis.toFixed(0)} ms; ${formatSummary(result)}`)
      )
    )
  }).pipe(
    Effect.catchAllDefect((error) =>
      Effect.as(printLine(`  The api's last lines:\n${stage.api.lastLogLines()}`), [
        makeFailure(operation.name, getMessage(error))
      ])
    ),
    Effect.tap((results) =>
      Effect.forEach(results, ({ findings }) =>
        Effect.forEach(findings, ({ description }) => printLine(`  ${description}`))
      )
    )
  )

const fetchDocument = (baseUrl: string) =>
  Effect.promise(async () => (await (await fetch(`${baseUrl}/openapi.json`)).json()) as OpenApiDocument)

/** Starts the service beside a large tenant of the attacker. */
const startStage = (benchEnvironment: BenchEnvironment, signTokenFor: SignTokenFor, options: Options) =>
  Effect.gen(function* () {
    const start = startService(benchEnvironment, "neighbours_search", options.profile, environment)
    const { api, client, namespace } = yield* withProgress("Starting the service", start, () => "Service started")
    const { baseUrl } = api
    const connect = connectAs(baseUrl, signTokenFor)
    const fixture = {
      attacker: yield* connect,
      client,
      receivers: yield* startReceivers,
      baseUrl,
      signTokenFor,
      natsUrl: benchEnvironment.infrastructure.natsUrl,
      namespace
    }
    const victim = yield* startVictim
    const prepareVictim = Effect.promise(async () =>
      victim.prepare(baseUrl, await signTokenFor("victim"), victimInvoices)
    )
    yield* withProgress("Preparing the victim", prepareVictim, () => "Victim prepared")
    const upload = yield* Effect.promise(makeUpload)
    const { pools, tenant } = yield* seedNeighbour(fixture, upload)
    const document = yield* fetchDocument(baseUrl)
    const stage: Stage = {
      api,
      victim,
      connect,
      tenant,
      pools,
      prepare: makePrepare(pools),
      makeCandidates: makeCandidates(document, pools, upload),
      seconds: options.seconds
    }
    return { stage, operations: listOperations(document) }
  })

/** The victim while nothing attacks, and the memory that the api keeps. */
const measureQuiet = ({ api, victim }: Stage, seconds: number) =>
  Effect.gen(function* () {
    yield* Effect.promise(victim.waitUntilPrompt)
    const measurements = yield* victim.measure(seconds)
    const quiet: RowResult = {
      name: "nobody",
      measurements,
      apiMegabytes: toMegabytes(api.memoryMiB()),
      attackerResponses: new Map(),
      findings: []
    }
    yield* printLine(`\nWithout an attack: ${formatSummary(quiet)}`)
    return quiet
  })

/** Other operations need what they delete. */
const sortDeletionsLast = (operations: ReadonlyArray<Operation>) =>
  operations.toSorted((a, b) => Number(a.method === "DELETE") - Number(b.method === "DELETE"))

/** Attacks with each operation of the OpenAPI document in turn. */
export const searchAll = (benchEnvironment: BenchEnvironment, signTokenFor: SignTokenFor, options: Options) =>
  Effect.gen(function* () {
    const { operations, stage } = yield* startStage(benchEnvironment, signTokenFor, options)
    yield* measureQuiet(stage, warmUpSeconds)
    const quiet = yield* measureQuiet(stage, quietSeconds)
    const results = yield* Effect.forEach(sortDeletionsLast(selectByWords(operations, options)), (operation) =>
      searchOperation(stage, operation)
    )
    const rest = yield* measureQuiet(stage, restSeconds)
    return { quiet, rest: { ...rest, name: "nobody, after all" }, results: results.flat() }
  })
