import { chmodSync, mkdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { copyCluster, query } from "./cluster.ts"
import { ensure, type Stage, waitFor } from "./stage.ts"
import { subscribeByWebhook } from "./subscribers.ts"
import { openTenant } from "./writes.ts"

const clientsBefore = 30

/** Waits until everything up to now is in the archive. */
const archiveWal = async (url: string) => {
  const [current] = await query(url, "select pg_walfile_name(pg_current_wal_lsn()) as file, pg_switch_wal()")
  const isArchived = async () => {
    const [archiver] = await query(url, "select coalesce(last_archived_wal, '') as file from pg_stat_archiver")
    return String(archiver?.["file"]) >= String(current?.["file"])
  }
  await waitFor("the WAL is archived", isArchived)
}

/** Restores PostgreSQL to the moment before an accident, from a base backup and the WAL archive, without NATS. */
export const restore = async (stage: Stage) => {
  const archive = join(stage.folder, "archive")
  mkdirSync(archive)
  chmodSync(archive, 0o777) // the account of PostgreSQL writes into it
  chmodSync(stage.folder, 0o711)
  const postgres = await stage.postgres("postgres", {
    archive_mode: "on",
    archive_command: `cp %p ${archive}/%f`,
    wal_level: "replica"
  })
  const nats = await stage.nats()
  const settings = { DATABASE_URL: postgres.url, ...nats }
  const api = await stage.service("api", ["api"], settings)
  const workers = await stage.service("workers", ["worker", "relay", "delivery"], settings)
  const { call } = await openTenant({ urls: [api.url], token: await stage.token("owner") })
  const webhook = await subscribeByWebhook(call)
  await copyCluster(postgres, join(stage.folder, "restored"))

  const create = async (name: string) => {
    const { body, status } = await call("POST", "/clients", { name })
    ensure(status === 201, `a client was not created: ${status}`)
    return body.data.id
  }
  const ids: Array<string> = []
  for (let n = 0; n < clientsBefore; n++) ids.push(await create(`Client ${n}`))
  await query(postgres.url, "select pg_create_restore_point('before_the_accident')")
  await query(postgres.url, "update clients set name = 'Accident'")
  await archiveWal(postgres.url)
  await api.stop()
  await workers.stop()
  await postgres.stop()

  writeFileSync(join(stage.folder, "restored", "data", "recovery.signal"), "")
  const restored = await stage.postgres("restored", {
    restore_command: `cp ${archive}/%f %p`,
    recovery_target_name: "before_the_accident",
    recovery_target_action: "promote"
  })
  const after = { ...settings, DATABASE_URL: restored.url }
  const apiAfter = await stage.service("api", ["api"], after)
  await stage.service("workers", ["worker", "relay", "delivery"], after)
  ensure(apiAfter.url === api.url, "the api listens elsewhere")
  for (const [n, id] of ids.entries()) {
    const { body, status } = await call("GET", `/clients/${id}`)
    const { name } = body.data as { readonly name?: string; readonly id: string }
    ensure(status === 200 && name === `Client ${n}`, `client ${n} is "${name}" after the restore (${status})`)
  }
  const added = await create("After the restore")
  await waitFor("every event has arrived, signed", () => [...ids, added].every((id) => webhook.arrivals.has(id)))
  webhook.close()
  ensure(webhook.invalid.length === 0, `webhooks with an invalid signature: ${webhook.invalid.length}`)
  rmSync(archive, { recursive: true })
  return { "clients as before the accident": ids.length, "events that arrived": webhook.arrivals.size }
}
