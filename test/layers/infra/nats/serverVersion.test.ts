import { once } from "node:events"
import { type AddressInfo, createServer } from "node:net"
import { assert, describe, it, onTestFinished } from "vitest"
import { isOutdated } from "../../../../src/layers/infra/nats/ServerVersion.ts"
import { connectToNats } from "./connectToNats.ts"

/** Speaks as much of the protocol as a connect needs, as a server of the given version. */
const startServer = async (info: Readonly<Record<string, string>>) => {
  const server = createServer((socket) => {
    socket.write(`INFO ${JSON.stringify({ server_id: "x", max_payload: 1024, headers: true, ...info })}\r\n`)
    socket.on("data", (chunk) => chunk.includes("PING") && socket.write("PONG\r\n"))
    socket.on("error", () => {})
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  onTestFinished(() => void server.close())
  return { NATS_URL: `nats://127.0.0.1:${(server.address() as AddressInfo).port}` } // it listens on a port
}

const warningsOf = async (info: Readonly<Record<string, string>>) => {
  const { logs, value } = await connectToNats(await startServer(info), () => true)
  assert.isTrue(value)
  return logs.filter((line) => line.includes("can lose messages"))
}

describe("The version of a NATS server", () => {
  it("is compared by its numbers", () => {
    assert.deepStrictEqual(["1.12.0", "2.9.10", "2.10.0", "2.10.27", "2.15.1", "3.0.0"].map(isOutdated), [
      true,
      true,
      false,
      false,
      false,
      false
    ])
  })

  it("is named in a warning if a server of a cluster is outdated", async () => {
    const [warning, ...others] = await warningsOf({ version: "2.9.10", cluster: "c" })
    assert.include(
      warning,
      "NATS 2.9.10 can lose messages when a server of its cluster freezes; install 2.10.0 or newer"
    )
    assert.deepStrictEqual(others, [])
  })

  it("causes no warning for a single server or a current one", async () => {
    assert.deepStrictEqual(await warningsOf({ version: "2.9.10" }), [])
    assert.deepStrictEqual(await warningsOf({ version: "2.10.27", cluster: "c" }), [])
  })
})
