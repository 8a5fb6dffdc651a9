import { connect, type Socket } from "node:net"
import { connectAttacker } from "../attacker.ts"
import type { Row } from "../row.ts"

const owners = 2
const clientCount = 20_000
const keepAliveMillis = 1000

const insertClients = `
  insert into clients (tenant_id, id, name, description, created_at, updated_at, sequence)
  select $1, 'clnt_' || lpad(n::text, 26, '0'), md5(n::text), repeat(md5((n + 1)::text), 30), now(), now(), 1
  from generate_series(1, $2::integer) n`

const sleep = (millis: number) => new Promise((resolve) => setTimeout(resolve, millis))

/** Opens an export and reads nothing, but sends empty lines, which are no request and keep the connection busy. */
const openUnreadExport = (baseUrl: string, token: string, tenant: string) => {
  const socket = connect(Number(new URL(baseUrl).port), "127.0.0.1").pause()
  socket.on("error", () => {})
  socket.write(`GET /api/v1/tenants/${tenant}/export HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${token}\r\n\r\n`)
  return socket
}

/** Another owner exports a tenant of its own while these are open. */
export const unreadExports: Row = {
  name: `${owners} exports that are not read, while another owner exports`,
  prepare: async ({ baseUrl, client, signTokenFor }) => {
    const exports = await Promise.all(
      Array.from({ length: owners }, async (_, n) => {
        const token = await signTokenFor(`idle owner ${n}`)
        const owner = connectAttacker(baseUrl, token)
        const tenant = await owner.createTenant()
        await owner.close()
        await client.query(insertClients, [tenant, clientCount])
        return { tenant, token }
      })
    )
    const other = connectAttacker(baseUrl, await signTokenFor("busy owner"))
    const tenant = await other.createTenant()
    return {
      run: async (signal) => {
        const sockets: ReadonlyArray<Socket> = exports.map(({ tenant, token }) =>
          openUnreadExport(baseUrl, token, tenant)
        )
        await sleep(keepAliveMillis)
        while (!signal.aborted) {
          for (const socket of sockets) socket.write("\r\n")
          await other.call("GET", `/tenants/${tenant}/export`, { signal })
          await sleep(keepAliveMillis)
        }
        for (const socket of sockets) socket.destroy()
      },
      check: async () => {
        const counts = other.responseCounts()
        await other.close()
        const exported = [...counts].filter(([status]) => status !== "201")
        const rejected = exported.filter(([status]) => status !== "200")
        const description = `the other owner's exports: ${exported.map(([status, n]) => `${status}: ${n}`).join(", ")}`
        return [{ description, isViolation: rejected.length > 0 }]
      }
    }
  }
}
