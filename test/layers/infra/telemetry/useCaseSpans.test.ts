import { Effect, Either, Layer, Option, Tracer } from "effect"
import { assert, describe, it } from "vitest"
import { TraceExport } from "../../../../src/layers/infra/telemetry/TraceContext.ts"
import { withSpans } from "../../../../src/layers/infra/telemetry/UseCaseSpans.ts"

const makeService = () => ({
  find: (id: string) => Effect.succeed(`found ${id}`),
  fail: () => Effect.fail("failed"),
  count: Effect.succeed(3),
  check: (isValid: boolean) => (isValid ? Either.right("valid") : Either.left("invalid")),
  first: () => Option.some(1),
  nameOf: (id: string) => `name of ${id}`
})

/** Runs with a tracer that records the names of spans. */
const traced = async <A>(work: Effect.Effect<A>) => {
  const names: Array<string> = []
  const tracer = Tracer.make({
    span: (name, parent, context, links, startTime, kind) => {
      names.push(name)
      const status: Tracer.SpanStatus = { _tag: "Started", startTime }
      return {
        _tag: "Span",
        name,
        spanId: "1",
        traceId: "1",
        parent,
        context,
        links,
        kind,
        status,
        attributes: new Map(),
        sampled: true,
        end: () => {},
        attribute: () => {},
        event: () => {},
        addLinks: () => {}
      }
    },
    context: (run) => run()
  })
  const result = await Effect.runPromise(
    Effect.provide(work, Layer.merge(Layer.setTracer(tracer), Layer.succeed(TraceExport, { isEnabled: true })))
  )
  return { names, result }
}

describe("withSpans", () => {
  it("runs the effects of a traced service in spans named after the service and the method", async () => {
    const { names, result } = await traced(
      Effect.gen(function* () {
        const service = yield* withSpans("Clients")(Effect.sync(makeService))
        return [yield* service.find("a"), yield* service.count, yield* Effect.flip(service.fail())]
      })
    )
    assert.deepStrictEqual(names, ["Clients.find", "Clients.count", "Clients.fail"])
    assert.deepStrictEqual(result, ["found a", 3, "failed"])
  })

  it("leaves methods of a traced service unchanged that return no effect", async () => {
    const { names, result } = await traced(
      Effect.map(withSpans("Clients")(Effect.sync(makeService)), (service) => [
        service.check(true),
        service.check(false),
        service.first(),
        service.nameOf("a")
      ])
    )
    assert.deepStrictEqual(names, [])
    assert.deepStrictEqual(result, [Either.right("valid"), Either.left("invalid"), Option.some(1), "name of a"])
  })

  it("returns the service itself without an exporter", async () => {
    const service = makeService()
    const wrapped = await Effect.runPromise(withSpans("Clients")(Effect.succeed(service)))
    assert.strictEqual(wrapped, service)
  })
})
