import { createServer, type RequestListener } from "node:http"
import type { AddressInfo } from "node:net"

/** Serves on a free port of the loopback interface. */
export const serveOnLoopback = async (listener: RequestListener) => {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const stop = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
  return { url, stop }
}
