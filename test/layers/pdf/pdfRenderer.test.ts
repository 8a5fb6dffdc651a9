import { Cause, Effect, Fiber } from "effect"
import { assert, describe, it } from "vitest"
import { ServiceUnavailable, TooManyRequests } from "../../../src/domain/Errors.ts"
import { makePdfRenderer, PdfRenderer, type RenderLimits } from "../../../src/layers/pdf/PdfRenderer.ts"
import { readPdf } from "../../support/assertions/pdfText.ts"
import { documentOf, typicalLines } from "../../support/fixtures/invoiceDocuments.ts"
import { eventually } from "../../support/servers/worker.ts"

/** A thread that does with a document what its number says. */
const program = new URL(
  `data:text/javascript,${encodeURIComponent(`
  import { parentPort } from "node:worker_threads"
  parentPort.on("message", (document) => {
    const wish = document.invoice.invoiceNumber
    if (wish === "exit") process.exit(1)
    if (wish === "throw") throw new Error("thrown in the thread")
    if (wish === "spin") for (;;);
    if (wish === "fail") parentPort.postMessage({ fault: "failed in the thread" })
    if (wish === "draw") parentPort.postMessage({ pdf: new Uint8Array([1, 2, 3]) })
  })
`)}`
)

const drawn = new Uint8Array([1, 2, 3])

interface Request {
  readonly as?: string
  readonly keys?: ReadonlyArray<string>
  readonly lineCount?: number
  /** How many there are by the time the document is read. */
  readonly lines?: number
}

/** Drawings of one process, and the names of those whose turn has come, in order. */
const makeDrawings = (own: Partial<RenderLimits> = {}) => {
  const { renderInvoice } = makePdfRenderer(program, { renderTimeout: "20 seconds", ...own })
  const begun: Array<string> = []
  const draw = (wish: string, { as = "", keys = ["tenant"], lineCount = 1, lines = lineCount }: Request = {}) =>
    renderInvoice({
      keys,
      lineCount,
      load: Effect.sync(() => {
        begun.push(as)
        return documentOf({ invoice: { invoiceNumber: wish }, lines: typicalLines(lines) })
      })
    })
  const start = (...request: Parameters<typeof draw>) => Effect.runFork(draw(...request))
  const reaches = (count: number) => eventually(() => begun.length === count, `${count} drawings have begun`)
  return { draw, start, begun, reaches }
}

const stop = (fiber: Fiber.RuntimeFiber<unknown, unknown>) => Effect.runPromise(Fiber.interrupt(fiber))

describe("drawing", () => {
  it.each([
    ["exit", "The drawing thread ended"],
    ["throw", "thrown in the thread"],
    ["fail", "failed in the thread"]
  ])("goes on after a document that makes the thread %s", async (fault, message) => {
    const { draw } = makeDrawings()
    const [before, failed, after] = await Effect.runPromise(
      Effect.all([draw("draw"), Effect.flip(Effect.sandbox(draw(fault))), draw("draw")], { concurrency: "unbounded" })
    )
    assert.deepStrictEqual([before, after], [drawn, drawn])
    assert.isTrue(Cause.isDie(failed))
    assert.include(Cause.pretty(failed), message)
  })

  it("stops what takes too long for its number of lines, and only that", async () => {
    const { draw } = makeDrawings({ renderTimeout: "500 millis", renderTimeoutPerLine: "20 seconds" })
    const [late, after] = await Effect.runPromise(
      Effect.all([Effect.flip(draw("spin", { lineCount: 0 })), draw("draw")], { concurrency: "unbounded" })
    )
    assert.instanceOf(late, ServiceUnavailable)
    assert.deepStrictEqual(after, drawn)
  })

  it("draws for another tenant after at most one of those that a busy tenant queued before", async () => {
    const { begun, reaches, start } = makeDrawings()
    const first = start("spin", { as: "busy 0", keys: ["busy"] })
    await reaches(1)
    const rest = [1, 2, 3].map((n) => start("spin", { as: `busy ${n}`, keys: ["busy"] }))
    const quiet = start("draw", { as: "quiet", keys: ["quiet"] })
    await stop(first)
    assert.deepStrictEqual(await Effect.runPromise(Fiber.join(quiet)), drawn)
    assert.deepStrictEqual(begun.slice(0, 2), ["busy 0", "quiet"])
    await Promise.all(rest.map(stop))
  })

  it("draws a small document while a long one of the same tenant is being drawn", async () => {
    const { draw, reaches, start } = makeDrawings({ maxSmallLines: 2 })
    const long = start("spin", { lineCount: 3 })
    await reaches(1)
    assert.deepStrictEqual(await Effect.runPromise(draw("draw", { lineCount: 2 })), drawn)
    await stop(long)
  })

  it("lets a document that has grown since its lines were counted wait among the long ones", async () => {
    const { draw, reaches, start } = makeDrawings({ maxSmallLines: 2 })
    const long = start("spin", { lineCount: 3 })
    await reaches(1)
    const grown = start("draw", { lineCount: 2, lines: 3 })
    await reaches(2)
    assert.deepStrictEqual(await Effect.runPromise(draw("draw")), drawn)
    await stop(long)
    assert.deepStrictEqual(await Effect.runPromise(Fiber.join(grown)), drawn)
  })

  it("reads a document when its turn comes and not before", async () => {
    const { begun, reaches, start } = makeDrawings()
    const first = start("spin", { as: "first" })
    await reaches(1)
    const second = start("draw", { as: "second" })
    await stop(first)
    await Effect.runPromise(Fiber.join(second))
    assert.deepStrictEqual(begun, ["first", "second"])
  })

  it("stops drawing what nobody waits for any more", async () => {
    const { draw, reaches, start } = makeDrawings()
    const left = start("spin")
    await reaches(1)
    await stop(left)
    assert.deepStrictEqual(await Effect.runPromise(draw("draw")), drawn)
  })

  it("answers 429 to a tenant whose queue is full and 503 to everyone when all queues are", async () => {
    const { draw, reaches, start } = makeDrawings({ maxQueuedPerKey: 1, maxQueued: 2 })
    const refusalOf = (key: string) => Effect.runPromise(Effect.flip(draw("draw", { keys: [key] })))
    const busy = [start("spin", { keys: ["a"] })]
    await reaches(1)
    busy.push(start("spin", { keys: ["a"] }))
    assert.instanceOf(await refusalOf("a"), TooManyRequests)
    busy.push(start("spin", { keys: ["b"] }))
    assert.instanceOf(await refusalOf("c"), ServiceUnavailable)
    await Promise.all(busy.map(stop))
  })

  it("answers 503 to whoever has waited too long for a turn", async () => {
    const { draw, reaches, start } = makeDrawings({ timeout: "50 millis" })
    const first = start("spin")
    await reaches(1)
    assert.instanceOf(await Effect.runPromise(Effect.flip(draw("draw"))), ServiceUnavailable)
    await stop(first)
  })

  it("has the program that is built draw invoices, as many at once as are wanted", async () => {
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
