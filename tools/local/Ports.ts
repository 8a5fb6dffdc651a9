import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { createServer } from "node:net"
import { Data, Effect, Option } from "effect"
import { tryFileAccess } from "./FileAccess.ts"

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

/** Fails unless a server can listen on the port now. */
export const requireFreePort = (host: string, port: number) =>
  Effect.async<void, PortTaken>((resume) => {
    const server = createServer()
    server.once("error", (error: NodeJS.ErrnoException) =>
      resume(Effect.fail(new PortTaken({ host, port, code: error.code ?? error.message })))
    )
    server.listen(port, host, () => server.close(() => resume(Effect.void)))
  })

// Below the ephemeral port range: the system gives the port of a restarting server to no other socket, and a client
// that keeps reconnecting cannot connect to itself.
const minPort = 15_000
const maxPort = 32_000

const randomPort = Effect.sync(() => minPort + Math.floor(Math.random() * (maxPort - minPort)))

const freePort = randomPort.pipe(
  Effect.tap((port) => requireFreePort(localhost, port)),
  Effect.retry({ times: 100 })
)

const readPort = (file: string) => {
  const port = existsSync(file) ? Number(readFileSync(file, "utf8")) : Number.NaN
  return Number.isInteger(port) && port > 0 && port < 65_536 ? Option.some(port) : Option.none()
}

/**
 * Reuses the port saved in the file if it is free, so that URLs stay the same across restarts. Otherwise it picks a
 * free port.
 */
export const chooseStablePort = (file: string) =>
  Effect.gen(function* () {
    const saved = yield* tryFileAccess(file, () => readPort(file))
    const port = yield* saved.pipe(
      Effect.tap((port) => requireFreePort(localhost, port)),
      Effect.orElse(() => freePort)
    )
    yield* tryFileAccess(file, () => writeFileSync(file, String(port)))
    return port
  })
