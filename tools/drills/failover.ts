import { cpSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import { Effect } from "effect"
import { chooseStablePort } from "../local/Ports.ts"
import { copyCluster, query } from "./cluster.ts"
import { ensure, type Stage, waitFor } from "./stage.ts"
import { openTenant, startWriting } from "./writes.ts"

/** The load, and how long it lasts before the primary is killed, until the promotion, and after it. */
const defaults = { writesPerSecond: 200, beforeMs: 5000, readOnlyMs: 2000, afterMs: 8000 }

/** Starts a standby that replicates synchronously: what a caller was told is on both servers. */
const startStandby = async (stage: Stage, primary: Awaited<ReturnType<Stage["postgres"]>>) => {
  const folder = join(stage.folder, "standby")
  await copyCluster(primary, folder)
  const { hostname, password, port, username } = new URL(primary.url)
  const connection = `host=${hostname} port=${port} user=${username} password=${password}`
  writeFileSync(join(folder, "data", "standby.signal"), "")
  const standby = await stage.postgres("standby", { primary_conninfo: connection, hot_standby: "on" })
  const isStreaming = async () =>
    (await query(primary.url, "select 1 from pg_stat_replication where state = 'streaming'")).length === 1
  await waitFor("the standby replicates", isStreaming)
  await query(primary.url, "alter system set synchronous_standby_names = '*'")
  await query(primary.url, "select pg_reload_conf()")
  const isSynchronous = async () =>
    (await query(primary.url, "select 1 from pg_stat_replication where sync_state = 'sync'")).length === 1
  await waitFor("the standby replicates synchronously", isSynchronous)
  return standby
}

/** The address with both servers. The port of the standby is chosen before it exists. */
const addressOfBoth = async (stage: Stage, primaryUrl: string) => {
  const url = new URL(primaryUrl)
  const standbyFolder = join(stage.folder, "standby")
  cpSync(join(stage.folder, "primary", "password"), join(standbyFolder, "password"), { recursive: true })
  const port = await Effect.runPromise(chooseStablePort(join(standbyFolder, "port")))
  return primaryUrl.replace(url.host, `${url.host},${url.hostname}:${port}`)
}

/** Kills the primary PostgreSQL server under load and promotes its standby. */
export const failover = async (
  stage: Stage,
  { afterMs, beforeMs, readOnlyMs, writesPerSecond }: typeof defaults = defaults
) => {
  const primary = await stage.postgres("primary", { wal_keep_size: "1GB" })
  const settings = { DATABASE_URL: await addressOfBoth(stage, primary.url), ...(await stage.nats()) }
  const apis = [await stage.service("api-1", ["api"], settings), await stage.service("api-2", ["api"], settings)]
  await stage.service("workers", ["worker", "relay", "delivery", "intake", "janitor"], settings)
  const { call } = await openTenant({ urls: apis.map(({ url }) => url), token: await stage.token("owner") })
  const standby = await startStandby(stage, primary)

  const writing = startWriting(call, writesPerSecond)
  await pause(beforeMs)
  const before = writing.created()
  ensure(before.length > 0, "nothing was written before the failover")
  await primary.kill()
  const killedAt = Date.now()
  await pause(readOnlyMs)
  const readable = await call("GET", `/clients/${before[0]?.id}`)
  await query(standby.url, "select pg_promote()")
  const promotedAt = Date.now()
  await pause(afterMs)
  await writing.stop()

  const firstAfter = writing.created().find(({ answeredAt }) => answeredAt > promotedAt)
  ensure(firstAfter !== undefined, "no write succeeded after the promotion")
  const afterPromotionMs = firstAfter.answeredAt - promotedAt
  const unexpected = writing.writes.filter(({ status }) => ![201, 429, 503].includes(status))
  ensure(unexpected.length === 0, `responses other than 201, 429 and 503: ${JSON.stringify(writing.countByStatus())}`)
  ensure(afterPromotionMs < 5000, `the first write succeeded ${afterPromotionMs} ms after the promotion`)
  const rows = await query(standby.url, "select id from clients")
  const stored = new Set(rows.map(({ id }) => id))
  const lost = writing.created().filter(({ id }) => !stored.has(id))
  ensure(lost.length === 0, `${lost.length} clients were created with 201 and are lost`)
  return {
    "writes by status": JSON.stringify(writing.countByStatus()),
    "read during the read-only interval": readable.status,
    "killed to promoted": `${promotedAt - killedAt} ms`,
    "first write after the promotion": `${afterPromotionMs} ms`,
    "created and stored": `${writing.created().length} of ${writing.created().length}`
  }
}
