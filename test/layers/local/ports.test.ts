import { createServer } from "node:net"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { localhost, requireFree, stablePort } from "../../../src/layers/local/Ports.ts"
import { temporaryFolder } from "./temporary.ts"

const occupy = (port: number) =>
  Effect.acquireRelease(
    Effect.async<ReturnType<typeof createServer>>((resume) => {
      const server = createServer()
      server.listen(port, localhost, () => resume(Effect.succeed(server)))
    }),
    (server) => Effect.async<void>((resume) => void server.close(() => resume(Effect.void)))
  )

describe("ports", () => {
  it.scopedLive("stay the same while they are free, and give way when they are not", () =>
    Effect.gen(function* () {
      const file = join(yield* temporaryFolder, "port")
      const first = yield* stablePort(file)
      assert.strictEqual(yield* stablePort(file), first)
      yield* occupy(first)
      const second = yield* stablePort(file)
      assert.notStrictEqual(second, first)
      assert.strictEqual(yield* stablePort(file), second)
    })
  )

  it.scopedLive("that are taken are said to be", () =>
    Effect.gen(function* () {
      const port = yield* stablePort(join(yield* temporaryFolder, "port"))
      yield* requireFree(localhost, port)
      yield* occupy(port)
      const refusal = yield* Effect.flip(requireFree(localhost, port))
      assert.include(refusal.message, `Port ${port} on ${localhost} is taken`)
    })
  )
})
