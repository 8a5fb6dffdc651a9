import { request } from "node:http"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { Effect, Predicate } from "effect"
import { printLine, withProgress } from "../../tools/local/ConsoleProgress.ts"
import { formatTable } from "../markdownTable.ts"
import { median } from "../median.ts"
import { sendRequest } from "../responseComparison.ts"
import type { Row } from "../row.ts"
import type { Server } from "../serverProcess.ts"
import { type BenchEnvironment, bundlePrograms, startServiceWith } from "../servers.ts"
import type { TokenOf } from "../tokenIssuer.ts"
import { describeDifferences, type Figures, readBudgets, updateBudgets, writeBudgets } from "./figures.ts"
import { heapProbeVariable } from "./heapProbeSettings.ts"
import { type StatementCounter, startStatementCounter } from "./statementCounter.ts"

/** V8 gives a function its memory for feedback in the course of its first calls. */
const warmUpRequests = 40
const batchRequests = 40
const batches = 3
/** On a busy machine a batch takes longer, and the service does more by itself meanwhile. */
const maxBatches = 15

/** The requests whose resources are seeded. */
export const budgetRequests = warmUpRequests + batches * batchRequests

/**
 * Without its compilers, V8 allocates the same for the same request. The young generation is large enough that nothing is
 * collected between two readings.
 */
const interpreterOptions = [
  ...["--no-opt", "--no-maglev", "--no-sparkplug", "--no-lazy-feedback-allocation", "--no-flush-bytecode"],
  ...["--expose-gc", "--min-semi-space-size=256", "--max-semi-space-size=256"]
]

/** The size of the heap in bytes; with POST after collecting garbage. */
const readHeap = (socketPath: string, method: "GET" | "POST") =>
  new Promise<number>((resolve, reject) => {
    const asked = request({ socketPath, method }, async (response) => {
      let text = ""
      for await (const chunk of response) text += chunk
      resolve(Number(text))
    })
    asked.on("error", reject).end()
  })

interface Subject {
  readonly server: Server
  readonly counter: StatementCounter
  readonly heapSocket: string
  readonly tokenOf: TokenOf
}

/** Sends requests one after the other. Returns what each sent to the database. */
const sendAll = async (
  { counter, server, tokenOf }: Subject,
  row: Row,
  requests: Row["requests"]
): Promise<ReadonlyArray<{ readonly statements: number; readonly exchanges: number }>> => {
  const counts = [counter.read()]
  for (const request of requests) {
    const { body, status } = await sendRequest(server, row, request, tokenOf)
    if (status >= 300) throw new Error(`${row.name} returned ${status} ${body}`)
    counts.push(counter.read())
  }
  return counts.slice(1).map(({ exchanges, statements }, n) => ({
    statements: statements - (counts[n]?.statements ?? 0),
    exchanges: exchanges - (counts[n]?.exchanges ?? 0)
  }))
}

/** Requests from the nth on, again and again unless each can be sent once only. */
const requestsFrom = ({ isSentOnce = false, requests }: Row, n: number, count: number) => {
  const seeded = requests.slice(0, budgetRequests)
  return isSentOnce
    ? seeded.slice(n, n + count)
    : Array.from({ length: count }, (_, i) => seeded[(n + i) % seeded.length]).filter(Predicate.isNotUndefined)
}

const measureBatch = async (subject: Subject, row: Row, requests: Row["requests"]): Promise<Figures> => {
  const before = await readHeap(subject.heapSocket, "POST")
  const counts = await sendAll(subject, row, requests)
  const after = await readHeap(subject.heapSocket, "GET")
  // The median leaves out what the service sends by itself meanwhile.
  return {
    statements: median(counts.map(({ statements }) => statements)),
    exchanges: median(counts.map(({ exchanges }) => exchanges)),
    allocatedKiB: Math.round((after - before) / counts.length / 102.4) / 10
  }
}

const leastOf = (one: Figures, other: Figures) => (other.allocatedKiB < one.allocatedKiB ? other : one)

/** The batch in which the service allocated least by itself: one of three, or of more until one is within the budget. */
const measureRow = async (subject: Subject, row: Row, isWithin: (figures: Figures) => boolean): Promise<Figures> => {
  await sendAll(subject, row, requestsFrom(row, 0, warmUpRequests))
  const measureNext = (n: number) =>
    measureBatch(subject, row, requestsFrom(row, warmUpRequests + n * batchRequests, batchRequests))
  let least = await measureNext(0)
  for (let n = 1; n < batches || (n < maxBatches && !row.isSentOnce && !isWithin(least)); n++)
    least = leastOf(least, await measureNext(n))
  return least
}

/** Rows of other sizes and of more callers cost the same in these figures, or take long to seed. */
export const isBudgeted = ({ baselineRow, hasBudget = true }: Row) => hasBudget && baselineRow === undefined

export const describeBudgetFailure = (differences: ReadonlyArray<string>) =>
  [
    "These requests do not cost what bench/budget/budgets.json says:",
    ...differences.map((difference) => `  ${difference}`),
    "If that is as it should be, say why: npm run bench -- --budget --because <reason>"
  ].join("\n")

const startSubject = (environment: BenchEnvironment, tokenOf: TokenOf) =>
  Effect.gen(function* () {
    const { infrastructure } = environment
    yield* bundlePrograms(["budget/heapProbe"])
    const counter = yield* startStatementCounter(infrastructure.databaseUrl)
    const heapSocket = join(infrastructure.folder, "heap.sock")
    const probe = fileURLToPath(new URL("budget/heapProbe.js", import.meta.url))
    const server = yield* startServiceWith(
      { ...environment, infrastructure: { ...infrastructure, databaseUrl: counter.url } },
      [...interpreterOptions, "--import", probe],
      { [heapProbeVariable]: heapSocket }
    )
    return { counter, heapSocket, server, tokenOf }
  })

const formatBudgets = (measured: ReadonlyMap<string, Figures>) =>
  formatTable(
    [
      { title: "row", isText: true, cell: ([row]) => row },
      { title: "statements", cell: ([, { statements }]) => String(statements) },
      { title: "exchanges", cell: ([, { exchanges }]) => String(exchanges) },
      { title: "allocated KiB", cell: ([, { allocatedKiB }]) => allocatedKiB.toFixed(1) }
    ],
    [...measured]
  )

/**
 * Compares what a request of each row costs with the figures in the repository. With a reason, it writes those that differ;
 * else it returns them.
 */
export const checkBudgets = (
  environment: BenchEnvironment,
  rows: ReadonlyArray<Row>,
  tokenOf: TokenOf,
  reason: string | undefined
) =>
  Effect.gen(function* () {
    const subject = yield* withProgress(
      "Starting the service",
      startSubject(environment, tokenOf),
      () => "Service ready"
    )
    const measured = new Map<string, Figures>()
    const budgets = readBudgets()
    for (const row of rows) {
      const isWithin = (figures: Figures) => describeDifferences(budgets[row.name], figures).length === 0
      measured.set(row.name, yield* Effect.promise(() => measureRow(subject, row, isWithin)))
    }
    yield* printLine(`\n${formatBudgets(measured)}\n`)
    if (reason !== undefined) {
      writeBudgets(updateBudgets(budgets, measured, reason))
      return []
    }
    return [...measured].flatMap(([row, figures]) =>
      describeDifferences(budgets[row], figures).map((difference) => `${row}: ${difference}`)
    )
  }).pipe(Effect.scoped)
