import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect, Exit, Scope } from "effect"
import pg from "pg"
import { assert, describe, inject, it } from "vitest"
import { makeTenantFixture } from "../../../../support/fixtures/tenantFixture.ts"
import { useFixture } from "../../../../support/fixtures/useFixture.ts"
import { startPgBouncer } from "../../../../support/servers/pgbouncer.ts"
import { startOwnService } from "../../../../support/servers/service.ts"

interface Pooling {
  readonly name: string
  readonly preparedStatements: number
  readonly settings: Readonly<Record<string, string>>
}

const startPooled = async ({ preparedStatements, settings }: Pooling) => {
  const folder = mkdtempSync(join(tmpdir(), "contracting-pgbouncer-"))
  const scope = Effect.runSync(Scope.make())
  const { url } = await Effect.runPromise(
    Scope.extend(
      startPgBouncer({ folder: join(folder, "pgbouncer"), databaseUrl: inject("databaseUrl"), preparedStatements }),
      scope
    )
  )
  const service = await startOwnService(settings, undefined, url)
  const stop = async () => {
    await service.stop()
    await Effect.runPromise(Scope.close(scope, Exit.void))
    rmSync(folder, { recursive: true, force: true })
  }
  return { service, stop }
}

const poolings: ReadonlyArray<Pooling> = [
  { name: "with named statements", preparedStatements: 200, settings: {} },
  { name: "before 1.21, with unnamed statements", preparedStatements: 0, settings: { DATABASE_STATEMENTS: "unnamed" } }
]

for (const pooling of poolings)
  describe(`Behind PgBouncer in transaction mode ${pooling.name}`, () => {
    const at = useFixture(() => startPooled(pooling))

    it("every kind of resource can be created and listed", async () => {
      const { service } = at()
      await makeTenantFixture(service, "owner")
    })

    it("concurrent requests of one tenant share few connections of the server", async () => {
      const { service } = at()
      const tenant = await service.newTenant()
      const as = { as: "owner", tenant }
      const create = async (n: number) => {
        const created = await service.api("POST", "/clients", { ...as, body: { name: `Client ${n}` } })
        assert.strictEqual(created.status, 201)
        const path = `/clients/${created.body.data.id}`
        const changed = await service.api("PATCH", path, { ...as, body: { name: `Changed ${n}` } })
        assert.strictEqual(changed.status, 200)
        return String(created.body.data.id)
      }
      const ids = await Promise.all(Array.from({ length: 60 }, (_, n) => create(n)))
      const { body } = await service.api("GET", "/clients?limit=200", as)
      assert.sameMembers(
        body.data.map(({ id }: { readonly id: string }) => id),
        ids
      )
    })

    it("connections of the server have the timeouts and the time zone of the role", async () => {
      const client = new pg.Client({ connectionString: at().service.database.url })
      await client.connect()
      const valueOf = async (name: string) => (await client.query(`show ${name}`)).rows[0]?.[name.toLowerCase()]
      assert.strictEqual(await valueOf("statement_timeout"), "15s")
      assert.strictEqual(await valueOf("lock_timeout"), "2s")
      assert.strictEqual(await valueOf("idle_in_transaction_session_timeout"), "20s")
      assert.strictEqual((await client.query("show timezone")).rows[0]?.TimeZone, "UTC")
      await client.end()
    })
  })
