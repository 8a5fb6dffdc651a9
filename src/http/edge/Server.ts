import { createServer, type RequestListener, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { Effect, type Scope } from "effect"

/** A slow sender may take a minute for its request, and an idle connection is kept for longer than proxies do. */
const timeouts = { requestTimeout: 60_000, headersTimeout: 20_000, keepAliveTimeout: 65_000 }

const drainMillis = 20_000

/** Takes no more connections, lets what is under way finish, and cuts what does not. */
const drain = (server: Server) =>
  Effect.async<void>((resume) => {
    const deadline = setTimeout(() => server.closeAllConnections(), drainMillis)
    server.close(() => {
      clearTimeout(deadline)
      resume(Effect.void)
    })
  })

/** Listens until its scope closes, then drains; what the listener needs must outlive that scope. */
export const listen = (listener: RequestListener, address: { readonly host: string; readonly port: number }) =>
  Effect.acquireRelease(
    Effect.async<Server, Error>((resume) => {
      const server = createServer(timeouts, listener)
      server.once("error", (error) => resume(Effect.fail(error)))
      server.listen(address, () => resume(Effect.succeed(server)))
    }),
    drain
  ).pipe(
    // Listening on a TCP port, a server's address is never a pipe's name.
    Effect.map((server) => (server.address() as AddressInfo).port)
  ) satisfies Effect.Effect<number, Error, Scope.Scope>
