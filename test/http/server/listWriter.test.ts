import { once } from "node:events"
import type { ServerResponse } from "node:http"
import { connect } from "node:net"
import { Effect, Exit } from "effect"
import { assert, describe, it, onTestFinished, vi } from "vitest"
import { EncodedPage } from "../../../src/domain/EncodedJson.ts"
import { PagedList } from "../../../src/http/server/response/HandlerResult.ts"
import { writeList } from "../../../src/http/server/response/ResponseWriter.ts"
import { serveOnLoopback } from "../../support/servers/loopback.ts"

/** Larger than the socket buffers on both sides. */
const largePage = `"${"x".repeat(32 * 1024 * 1024)}"`

/** A request whose client never reads the response, with both ends of the connection. */
const sendWithoutReading = async () => {
  let resolveResponse: (response: ServerResponse) => void = () => {}
  const received = new Promise<ServerResponse>((resolve) => {
    resolveResponse = resolve
  })
  const { stop, url } = await serveOnLoopback((_, response) => resolveResponse(response))
  const client = connect(Number(new URL(url).port), "127.0.0.1")
  client.pause()
  client.on("error", () => {})
  client.write("GET / HTTP/1.1\r\nhost: a\r\n\r\n")
  onTestFinished(() => {
    client.destroy()
    return stop()
  })
  return { client, response: await received }
}

/** A list of two pages that counts how often its second page is read. */
const makeCountedList = (first: string) => {
  const reads = { count: 0 }
  const readPage = () => Effect.sync(() => new EncodedPage(String(reads.count++), undefined))
  return { list: new PagedList(new EncodedPage(first, { id: "1" }), readPage), reads }
}

describe("writeList", () => {
  it("destroys the response and reads no further page when the client stops reading for the timeout", async () => {
    const { response } = await sendWithoutReading()
    const { list, reads } = makeCountedList(largePage)
    assert.isTrue(Exit.isSuccess(await Effect.runPromiseExit(writeList(response, list, { bytes: 1, millis: 100 }))))
    assert.isTrue(response.destroyed)
    assert.strictEqual(reads.count, 0)
  })

  it("destroys the response of a client that reads nothing, whatever it sends", async () => {
    const { client, response } = await sendWithoutReading()
    const sending = setInterval(() => client.write("\r\n"), 10)
    onTestFinished(() => clearInterval(sending))
    const { list } = makeCountedList(largePage)
    await Effect.runPromise(writeList(response, list, { bytes: 1, millis: 200 }))
    assert.isTrue(response.destroyed)
  })

  it("goes on as long as the client reads enough in each window", async () => {
    const { client, response } = await sendWithoutReading()
    const { list, reads } = makeCountedList(largePage)
    let received = 0
    let allowed = 0
    client.on("data", (bytes) => {
      received += bytes.length
      if (received >= allowed) client.pause()
    })
    /** Takes longer than a window for the page, and never a whole one between two of its turns. */
    const reading = setInterval(() => {
      allowed = received + 5 * 1024 * 1024
      client.resume()
    }, 400)
    onTestFinished(() => clearInterval(reading))
    await Effect.runPromise(writeList(response, list, { bytes: 1, millis: 2000 }))
    assert.isFalse(response.destroyed)
    assert.strictEqual(reads.count, 1)
    await vi.waitUntil(() => received > largePage.length, { timeout: 60_000 })
  })

  it("reads no further page after the client disconnected", async () => {
    const { client, response } = await sendWithoutReading()
    const { list, reads } = makeCountedList(largePage)
    const written = Effect.runPromiseExit(writeList(response, list))
    client.destroy()
    assert.isTrue(Exit.isSuccess(await written))
    assert.strictEqual(reads.count, 0)
  })

  it("succeeds when the client disconnects while a page is read", async () => {
    const { client, response } = await sendWithoutReading()
    const failures: Array<unknown> = []
    response.on("error", (error) => failures.push(error))
    const readPage = () =>
      Effect.promise(async () => {
        client.destroy()
        await once(response, "close")
        return new EncodedPage("2", undefined)
      })
    const list = new PagedList(new EncodedPage("1", { id: "1" }), readPage)
    assert.isTrue(Exit.isSuccess(await Effect.runPromiseExit(writeList(response, list))))
    await new Promise(setImmediate)
    assert.deepStrictEqual(failures, [])
  })
})
