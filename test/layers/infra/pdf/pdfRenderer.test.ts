import { Cause, Effect, Fiber } from "effect"
import { assert, describe, it } from "vitest"
import { ServiceUnavailable, TooManyRequests } from "../../../../src/domain/Errors.ts"
import { rowCountOf } from "../../../../src/layers/infra/pdf/PdfDocument.ts"
import {
  type LaneLimits,
  makePdfRenderer,
  PdfRenderer,
  type RenderLimits
} from "../../../../src/layers/infra/pdf/PdfRenderer.ts"
import { readPdf } from "../../../support/assertions/pdfText.ts"
import { documentOf, typicalLines } from "../../../support/fixtures/invoiceDocuments.ts"
import { eventually } from "../../../support/servers/worker.ts"

/** A worker thread that takes the invoice number as its command. */
const program = new URL(
  `data:text/javascript,${encodeURIComponent(`
  import { parentPort } from "node:worker_threads"
  parentPort.on("message", (document) => {
    const command = document.invoice.invoiceNumber
    if (command === "exit") process.exit(1)
    if (command === "throw") throw new Error("thrown in the thread")
    if (command === "spin") for (;;);
    if (command === "fail") parentPort.postMessage({ error: "failed in the thread" })
    if (command === "draw") parentPort.postMessage({ pdf: new Uint8Array([1, 2, 3]) })
  })
`)}`
)

const pdf = new Uint8Array([1, 2, 3])

const unlimited = Number.POSITIVE_INFINITY

/** A lane that has one document in memory at a time. */
const lane: LaneLimits = { maxLines: unlimited, maxRows: unlimited, permits: 1, maxPerKey: 1 }
const rowsOf = (lines: number) => rowCountOf(documentOf({ lines: typicalLines(lines) }))
const twoLanes = [{ maxLines: 2, maxRows: rowsOf(2), permits: 4, maxPerKey: 2 }, lane]

interface Request {
  readonly as?: string
  readonly keys?: ReadonlyArray<string>
  readonly lineCount?: number
  /** The actual number of lines when the document is loaded. */
  readonly lines?: number
}

/** The renderer of one process; `started` has the names of the started renderings in order. */
const makeRenderer = (limits: Partial<RenderLimits> = {}) => {
  const { renderInvoice } = makePdfRenderer(program, { renderTimeout: "20 seconds", ...limits })
  const started: Array<string> = []
  const render = (command: string, { as = "", keys = ["tenant"], lineCount = 1, lines = lineCount }: Request = {}) =>
    renderInvoice({
      keys,
      lineCount,
      load: Effect.sync(() => {
        started.push(as)
        return documentOf({ invoice: { invoiceNumber: command }, lines: typicalLines(lines) })
      })
    })
  const start = (...request: Parameters<typeof render>) => Effect.runFork(render(...request))
  const awaitStarted = (count: number) => eventually(() => started.length === count, `${count} renderings started`)
  return { render, renderInvoice, start, started, awaitStarted }
}

const stop = (fiber: Fiber.RuntimeFiber<unknown, unknown>) => Effect.runPromise(Fiber.interrupt(fiber))

describe("PdfRenderer", () => {
  it.each([
    ["exit", "The drawing thread ended"],
    ["throw", "thrown in the thread"],
    ["fail", "failed in the thread"]
  ])("renders the next document after one that makes the worker thread %s", async (command, message) => {
    const { render } = makeRenderer()
    const [before, failed, after] = await Effect.runPromise(
      Effect.all([render("draw"), Effect.flip(Effect.sandbox(render(command))), render("draw")], {
        concurrency: "unbounded"
      })
    )
    assert.deepStrictEqual([before, after], [pdf, pdf])
    assert.isTrue(Cause.isDie(failed))
    assert.include(Cause.pretty(failed), message)
  })

  it("stops a rendering that exceeds the timeout of its row count, and no other", async () => {
    const { render } = makeRenderer({ renderTimeout: "500 millis", renderTimeoutPerRow: "20 seconds" })
    const [late, after] = await Effect.runPromise(
      Effect.all([Effect.flip(render("spin", { lineCount: 0 })), render("draw")], { concurrency: "unbounded" })
    )
    assert.instanceOf(late, ServiceUnavailable)
    assert.deepStrictEqual(after, pdf)
  })

  it("serves another tenant before the queue of a busy tenant", async () => {
    const { started, awaitStarted, start } = makeRenderer({ lanes: [lane] })
    const first = start("spin", { as: "busy 0", keys: ["busy"] })
    await awaitStarted(1)
    const rest = [1, 2, 3].map((n) => start("spin", { as: `busy ${n}`, keys: ["busy"] }))
    const quiet = start("draw", { as: "quiet", keys: ["quiet"] })
    await stop(first)
    assert.deepStrictEqual(await Effect.runPromise(Fiber.join(quiet)), pdf)
    assert.deepStrictEqual(started.slice(0, 2), ["busy 0", "quiet"])
    await Promise.all(rest.map(stop))
  })

  it("serves another tenant before documents of a busy tenant that are loaded already", async () => {
    const { awaitStarted, start } = makeRenderer()
    const first = start("spin", { keys: ["busy"] })
    await awaitStarted(1)
    const second = start("spin", { keys: ["busy"] })
    await awaitStarted(2)
    const quiet = start("draw", { keys: ["quiet"] })
    await awaitStarted(3)
    await stop(first)
    assert.deepStrictEqual(await Effect.runPromise(Fiber.join(quiet)), pdf)
    await stop(second)
  })

  it("renders a document while others are loaded slowly", async () => {
    const { render, renderInvoice } = makeRenderer()
    const slow = Effect.runFork(renderInvoice({ keys: ["slow"], lineCount: 1, load: Effect.never }))
    assert.deepStrictEqual(await Effect.runPromise(render("draw")), pdf)
    await stop(slow)
  })

  it("renders a document of few lines with long texts apart from small ones", async () => {
    const { render, renderInvoice } = makeRenderer({ lanes: twoLanes })
    const [line] = typicalLines(1)
    if (line === undefined) return assert.fail("expected a line")
    const broken = { ...line, description: "a\n".repeat(512) }
    const load = Effect.succeed(documentOf({ invoice: { invoiceNumber: "spin" }, lines: [broken] }))
    const long = Effect.runFork(renderInvoice({ keys: ["tenant"], lineCount: 1, load }))
    assert.deepStrictEqual(await Effect.runPromise(render("draw")), pdf)
    await stop(long)
  })

  it("renders a small document while a large one of the same tenant is rendered", async () => {
    const { render, awaitStarted, start } = makeRenderer({ lanes: twoLanes })
    const long = start("spin", { lineCount: 3 })
    await awaitStarted(1)
    assert.deepStrictEqual(await Effect.runPromise(render("draw", { lineCount: 2 })), pdf)
    await stop(long)
  })

  it("queues a document as large if it has grown since its lines were counted", async () => {
    const { render, awaitStarted, start } = makeRenderer({ lanes: twoLanes })
    const long = start("spin", { lineCount: 3 })
    await awaitStarted(1)
    const grown = start("draw", { lineCount: 2, lines: 3 })
    await awaitStarted(2)
    assert.deepStrictEqual(await Effect.runPromise(render("draw")), pdf)
    await stop(long)
    assert.deepStrictEqual(await Effect.runPromise(Fiber.join(grown)), pdf)
  })

  it("loads no more documents than it has permits for", async () => {
    const { started, awaitStarted, start } = makeRenderer({ lanes: [lane] })
    const first = start("spin", { as: "first" })
    await awaitStarted(1)
    const second = start("draw", { as: "second" })
    await stop(first)
    await Effect.runPromise(Fiber.join(second))
    assert.deepStrictEqual(started, ["first", "second"])
  })

  it("stops a rendering whose request was cancelled", async () => {
    const { render, awaitStarted, start } = makeRenderer()
    const cancelled = start("spin")
    await awaitStarted(1)
    await stop(cancelled)
    assert.deepStrictEqual(await Effect.runPromise(render("draw")), pdf)
  })

  it("fails with 429 if the queue of the tenant is full and with 503 if the whole queue is full", async () => {
    const { render, awaitStarted, start } = makeRenderer({ lanes: [lane], maxQueuedPerKey: 1, maxQueued: 2 })
    const renderError = (key: string) => Effect.runPromise(Effect.flip(render("draw", { keys: [key] })))
    const busy = [start("spin", { keys: ["a"] })]
    await awaitStarted(1)
    busy.push(start("spin", { keys: ["a"] }))
    assert.instanceOf(await renderError("a"), TooManyRequests)
    busy.push(start("spin", { keys: ["b"] }))
    assert.instanceOf(await renderError("c"), ServiceUnavailable)
    await Promise.all(busy.map(stop))
  })

  it("fails with 503 after the queue timeout", async () => {
    const { render, awaitStarted, start } = makeRenderer({ lanes: [lane], timeout: "50 millis" })
    const first = start("spin")
    await awaitStarted(1)
    assert.instanceOf(await Effect.runPromise(Effect.flip(render("draw"))), ServiceUnavailable)
    await stop(first)
  })

  it("renders concurrent invoices with the built worker program", async () => {
    const documents = [1, 30, 250].map((count) => documentOf({ lines: typicalLines(count) }))
    const files = await Effect.runPromise(
      Effect.flatMap(PdfRenderer, ({ renderInvoice }) =>
        Effect.forEach(
          documents,
          (document) =>
            renderInvoice({ keys: ["tenant"], lineCount: document.lines.length, load: Effect.succeed(document) }),
          { concurrency: "unbounded" }
        )
      ).pipe(Effect.provide(PdfRenderer.Default))
    )
    const pages = await Promise.all(files.map(async (file) => (await readPdf(file)).pages.length))
    assert.deepStrictEqual(
      pages,
      [...pages].sort((one, other) => one - other)
    )
    assert.strictEqual(pages[0], 1)
  })
})
