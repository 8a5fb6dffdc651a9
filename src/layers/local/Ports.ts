import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { createServer } from "node:net"
import { Data, Effect, Option } from "effect"
import { onDisk } from "./Disk.ts"

export const localhost = "127.0.0.1"

export class PortTaken extends Data.TaggedError("PortTaken")<{
  readonly host: string
  readonly port: number
  readonly code: string
}> {
  override get message() {
    const { code, host, port } = this
    return code === "EADDRINUSE"
      ? `Port ${port} on ${host} is taken by another process. Stop that one, or choose another port: PORT=${port + 1} npm start`
      : `Port ${port} on ${host} cannot be used (${code}). Choose another with PORT, or another address with HOST.`
  }
}

/** Succeeds when a server could listen there now. */
export const requireFree = (host: string, port: number) =>
  Effect.async<void, PortTaken>((resume) => {
    const server = createServer()
    server.once("error", (error: NodeJS.ErrnoException) =>
      resume(Effect.fail(new PortTaken({ host, port, code: error.code ?? error.message })))
    )
    server.listen(port, host, () => server.close(() => resume(Effect.void)))
  })

// Below the range systems take outgoing ports from: while a server restarts nobody is given its port by chance, and a
// client that keeps trying to reconnect cannot be connected to itself.
const lowest = 15_000
const highest = 32_000

const anyPort = Effect.sync(() => lowest + Math.floor(Math.random() * (highest - lowest)))

const freePort = anyPort.pipe(
  Effect.tap((port) => requireFree(localhost, port)),
  Effect.retry({ times: 100 })
)

const remembered = (file: string) => {
  const port = existsSync(file) ? Number(readFileSync(file, "utf8")) : Number.NaN
  return Number.isInteger(port) && port > 0 && port < 65_536 ? Option.some(port) : Option.none()
}

/** The port written in the file when it is free again, so that addresses stay the same; otherwise another one. */
export const stablePort = (file: string) =>
  Effect.gen(function* () {
    const before = yield* onDisk(file, () => remembered(file))
    const port = yield* before.pipe(
      Effect.tap((port) => requireFree(localhost, port)),
      Effect.orElse(() => freePort)
    )
    yield* onDisk(file, () => writeFileSync(file, String(port)))
    return port
  })
