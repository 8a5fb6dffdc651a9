import { Cause, Deferred, Effect, Fiber } from "effect"
import { assert, describe, it } from "vitest"
import { ServiceUnavailable } from "../../../src/domain/Errors.ts"
import { Drawing, makeDrawing, mostWaiting } from "../../../src/layers/pdf/Drawing.ts"
import { documentOf, everydayLines } from "../../support/invoiceDocuments.ts"
import { readPdf } from "../../support/pdfText.ts"

/** A thread that does with a document what its number says. */
const program = new URL(
  `data:text/javascript,${encodeURIComponent(`
  import { parentPort } from "node:worker_threads"
  parentPort.on("message", ({ number, document }) => {
    const wish = document.invoice.invoiceNumber
    if (wish === "exit") process.exit(1)
    if (wish === "throw") throw new Error("thrown in the thread")
    if (wish === "fail") parentPort.postMessage({ number, fault: "failed in the thread" })
    if (wish === "draw") parentPort.postMessage({ number, pdf: new Uint8Array([1, 2, 3]) })
  })
`)}`
)

const wish = (invoiceNumber: string) => documentOf({ invoice: { invoiceNumber } })

const run = <A, E>(
  use: (draw: (wish: string) => Effect.Effect<Uint8Array, ServiceUnavailable>) => Effect.Effect<A, E>
) =>
  Effect.runPromise(
    Effect.flatMap(makeDrawing(program, "2 seconds"), ({ invoice }) => use((name) => invoice(wish(name))))
  )

const drawn = new Uint8Array([1, 2, 3])

describe("drawing", () => {
  it.each([
    ["exit", "The drawing thread ended"],
    ["throw", "thrown in the thread"],
    ["fail", "failed in the thread"]
  ])("goes on after a document that makes the thread %s", async (fault, message) => {
    await run((draw) =>
      Effect.gen(function* () {
        const [before, failed, after] = yield* Effect.all(
          [draw("draw"), Effect.flip(Effect.sandbox(draw(fault))), draw("draw")],
          {
            concurrency: "unbounded"
          }
        )
        assert.deepStrictEqual([before, after], [drawn, drawn])
        assert.isTrue(Cause.isDie(failed))
        assert.include(Cause.pretty(failed), message)
      })
    )
  })

  it("stops what takes too long, and only that", async () => {
    await run((draw) =>
      Effect.gen(function* () {
        const [late, after] = yield* Effect.all([Effect.flip(draw("never")), draw("draw")], {
          concurrency: "unbounded"
        })
        assert.instanceOf(late, ServiceUnavailable)
        assert.deepStrictEqual(after, drawn)
      })
    )
  })

  it(`has ${mostWaiting} wait and turns away more, until one is done`, async () => {
    await run((draw) =>
      Effect.gen(function* () {
        const begun = yield* Deferred.make<void>()
        const waiting = yield* Effect.forEach(Array.from({ length: mostWaiting }), () =>
          Effect.fork(Effect.zipRight(Deferred.succeed(begun, undefined), draw("never")))
        )
        yield* Deferred.await(begun)
        yield* Effect.yieldNow()
        assert.instanceOf(yield* Effect.flip(draw("draw")), ServiceUnavailable)
        yield* Fiber.interruptAll(waiting)
        assert.deepStrictEqual(yield* draw("draw"), drawn)
      })
    )
  })

  it("has the program that is built draw invoices, as many at once as are wanted", async () => {
    const files = await Effect.runPromise(
      Effect.flatMap(Drawing, ({ invoice }) =>
        Effect.forEach([1, 30, 100], (count) => invoice(documentOf({ lines: everydayLines(count) })), {
          concurrency: "unbounded"
        })
      ).pipe(Effect.provide(Drawing.Default))
    )
    const pages = await Promise.all(files.map(async (file) => (await readPdf(file)).pages.length))
    assert.deepStrictEqual(
      pages,
      [...pages].sort((one, other) => one - other)
    )
    assert.strictEqual(pages[0], 1)
  })
})
