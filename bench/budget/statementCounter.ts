import { connect, createServer, type Socket } from "node:net"
import { Effect } from "effect"
import { localhost } from "../../tools/local/Ports.ts"

/** What clients have sent to a database. */
export interface StatementCounts {
  readonly statements: number
  /** How often they waited for an answer: several statements can go out together. */
  readonly exchanges: number
}

const typeOf = (letter: string) => letter.charCodeAt(0)
const [execute, query, sync] = ["E", "Q", "S"].map(typeOf)

/**
 * Calls back for the type of each message. Only the first message of a connection has none. See "Message Formats" in the
 * documentation of PostgreSQL.
 */
const makeMessageReader = (onMessage: (type: number) => void) => {
  let rest: Buffer = Buffer.alloc(0)
  let typeLength = 0
  return (chunk: Buffer) => {
    rest = Buffer.concat([rest, chunk])
    while (rest.length >= typeLength + 4) {
      const length = typeLength + rest.readInt32BE(typeLength)
      if (rest.length < length) return
      if (typeLength === 1) onMessage(rest.readUInt8(0))
      typeLength = 1
      rest = rest.subarray(length)
    }
  }
}

const join = (client: Socket, server: Socket) => {
  client.pipe(server).pipe(client)
  for (const [socket, other] of [
    [client, server],
    [server, client]
  ] as const)
    socket.on("error", () => other.destroy()).on("close", () => other.destroy())
}

/** Counts what goes through it to a database. */
export const startStatementCounter = (databaseUrl: string) =>
  Effect.gen(function* () {
    const { hostname, port } = new URL(databaseUrl)
    let [statements, exchanges] = [0, 0]
    const sockets = new Set<Socket>()
    const proxy = createServer((client) => {
      const read = makeMessageReader((type) => {
        if (type === execute || type === query) statements++
        if (type === sync || type === query) exchanges++
      })
      sockets.add(client.on("data", read))
      join(client, connect(Number(port), hostname))
    })
    yield* Effect.acquireRelease(
      Effect.async<void>((resume) => void proxy.listen(0, localhost, () => resume(Effect.void))),
      () =>
        Effect.sync(() => {
          proxy.close()
          for (const socket of sockets) socket.destroy()
        })
    )
    const address = proxy.address()
    const url = new URL(databaseUrl)
    url.port = String(typeof address === "object" ? address?.port : "")
    return { url: url.href, read: (): StatementCounts => ({ statements, exchanges }) }
  })

export type StatementCounter = Effect.Effect.Success<ReturnType<typeof startStatementCounter>>
