import { once } from "node:events"
import type { ServerResponse } from "node:http"
import { connect } from "node:net"
import { Effect, Exit } from "effect"
import { assert, describe, it, onTestFinished } from "vitest"
import { EncodedPage } from "../../../src/domain/EncodedJson.ts"
import { PagedList } from "../../../src/http/server/response/HandlerResult.ts"
import { writeList } from "../../../src/http/server/response/ResponseWriter.ts"
import { serveOnLoopback } from "../../support/servers/loopback.ts"

/** More than the buffers between two sockets of a machine hold. */
const long = `"${"x".repeat(32 * 1024 * 1024)}"`

/** A request whose caller takes nothing of the answer, seen from both ends. */
const askIdly = async () => {
  let arrive: (response: ServerResponse) => void = () => {}
  const arrived = new Promise<ServerResponse>((resolve) => {
    arrive = resolve
  })
  const { stop, url } = await serveOnLoopback((_, response) => arrive(response))
  const caller = connect(Number(new URL(url).port), "127.0.0.1")
  caller.pause()
  caller.on("error", () => {})
  caller.write("GET / HTTP/1.1\r\nhost: a\r\n\r\n")
  onTestFinished(() => {
    caller.destroy()
    return stop()
  })
  return { caller, response: await arrived }
}

/** A list of two pages, and how often the second was read. */
const counted = (first: string) => {
  const reads = { count: 0 }
  const readPage = () => Effect.sync(() => new EncodedPage(String(reads.count++), undefined))
  return { list: new PagedList(new EncodedPage(first, { id: "1" }), readPage), reads }
}

describe("a list written in pages", () => {
  it("is given up when the caller takes nothing of it for a while, and no more of it is read", async () => {
    const { response } = await askIdly()
    const { list, reads } = counted(long)
    assert.isTrue(Exit.isSuccess(await Effect.runPromiseExit(writeList(response, list, 100))))
    assert.isTrue(response.destroyed)
    assert.strictEqual(reads.count, 0)
  })

  it("is not read on when the caller has left", async () => {
    const { caller, response } = await askIdly()
    const { list, reads } = counted(long)
    const written = Effect.runPromiseExit(writeList(response, list))
    caller.destroy()
    assert.isTrue(Exit.isSuccess(await written))
    assert.strictEqual(reads.count, 0)
  })

  it("ends without a failure when the caller leaves while a page is read", async () => {
    const { caller, response } = await askIdly()
    const failures: Array<unknown> = []
    response.on("error", (error) => failures.push(error))
    const readPage = () =>
      Effect.promise(async () => {
        caller.destroy()
        await once(response, "close")
        return new EncodedPage("2", undefined)
      })
    const list = new PagedList(new EncodedPage("1", { id: "1" }), readPage)
    assert.isTrue(Exit.isSuccess(await Effect.runPromiseExit(writeList(response, list))))
    await new Promise(setImmediate)
    assert.deepStrictEqual(failures, [])
  })
})
