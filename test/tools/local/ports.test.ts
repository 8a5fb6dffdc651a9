import { createServer } from "node:net"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { chooseStablePort, localhost, requireFreePort } from "../../../tools/local/Ports.ts"
import { temporaryFolder } from "./temporary.ts"

const occupy = (port: number) =>
  Effect.acquireRelease(
    Effect.async<ReturnType<typeof createServer>>((resume) => {
      const server = createServer()
      server.listen(port, localhost, () => resume(Effect.succeed(server)))
    }),
    (server) => Effect.async<void>((resume) => void server.close(() => resume(Effect.void)))
  )

describe("Local ports", () => {
  it.scopedLive("stay the same while they are free and change when they are taken", () =>
    Effect.gen(function* () {
      const file = join(yield* temporaryFolder, "port")
      const first = yield* chooseStablePort(file)
      assert.strictEqual(yield* chooseStablePort(file), first)
      yield* occupy(first)
      const second = yield* chooseStablePort(file)
      assert.notStrictEqual(second, first)
      assert.strictEqual(yield* chooseStablePort(file), second)
    })
  )

  it.scopedLive("are reported as taken by requireFreePort", () =>
    Effect.gen(function* () {
      const port = yield* chooseStablePort(join(yield* temporaryFolder, "port"))
      yield* requireFreePort(localhost, port)
      yield* occupy(port)
      const error = yield* Effect.flip(requireFreePort(localhost, port))
      assert.include(error.message, `Port ${port} on ${localhost} is taken`)
    })
  )
})
