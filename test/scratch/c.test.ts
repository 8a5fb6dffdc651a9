import { it } from "vitest"
import { startService } from "../support/service.ts"
import { freshDatabase, openPool } from "../support/database.ts"
import { startProxy } from "../support/proxy.ts"

it("probe", async () => {
  const db = await freshDatabase()
  const u = new URL(db.url)
  const proxy = await startProxy({ host: u.hostname, port: Number(u.port) })
  const through = new URL(db.url); through.hostname = "127.0.0.1"; through.port = String(proxy.port)
  const service = await startService({ DATABASE_URL: through.href })
  const tenant = await service.newTenant()
  const t0 = performance.now()
  const show = async (name: string, p: Promise<any>, limit = 12000) => {
    const t = performance.now()
    const r = await Promise.race([p.catch((e) => ({ status: "THROWN", text: String(e) })), new Promise<any>((r) => setTimeout(() => r({ status: "HANGS" }), limit))])
    console.log(name, r.status, r.text, r.headers?.get("retry-after"), Math.round(performance.now() - t))
  }
  const list = () => service.api("GET", "/clients", { as: "owner", tenant })
  const post = (key?: string) => service.api("POST", "/clients", { as: "owner", tenant, body: { name: "x" }, headers: key ? { "idempotency-key": key } : {} })
  await show("ok", list())
  await show("ready", service.call("GET", "/readyz"))
  await proxy.cut()
  await show("cut", list()); await show("cut2", list()); await show("cut post", post("k1")); await show("ready", service.call("GET", "/readyz")); await show("health", service.call("GET", "/healthz"))
  await show("tenants", service.api("POST", "/tenants", { as: "owner", body: { name: "x" } }))
  await proxy.restore()
  await show("restored", list()); await show("restored", list()); await show("restored post", post("k1")); await show("ready", service.call("GET", "/readyz"))
  proxy.stall()
  await Promise.all([show("stalled", list()), show("stalled post", post("k2")), show("stalled post", post()), show("ready", service.call("GET", "/readyz")), show("health", service.call("GET", "/healthz")),
  ...Array.from({ length: 12 }, (_, i) => show("more" + i, list()))])
  await show("stalled again", list())
  proxy.flow()
  await show("flow", list()); await show("flow", post("k2"))
  await show("ready", service.call("GET", "/readyz"))
  console.log(service.logs.filter((l) => !l.includes("DEBUG")).map((l) => l.slice(0, 500)).join("\n"))
  await service.stop(); await proxy.stop(); await db.drop()
}, 120000)
