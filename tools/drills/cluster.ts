import { cpSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs"
import { chown } from "node:fs/promises"
import { join } from "node:path"
import pg from "pg"

/** Runs one statement on a connection of its own. */
export const query = async (url: string, statement: string): Promise<ReadonlyArray<Record<string, unknown>>> => {
  const client = new pg.Client({ connectionString: url })
  client.on("error", () => {})
  await client.connect()
  try {
    return (await client.query(statement)).rows
  } finally {
    await client.end()
  }
}

interface RunningCluster {
  readonly url: string
  readonly folder: string
}

/** Files that belong to the running server, not to its data. */
const leftOut = ["postmaster.pid", "postmaster.opts"]

const giveTo = async (path: string, uid: number, gid: number): Promise<void> => {
  await chown(path, uid, gid)
  if (statSync(path).isDirectory()) for (const name of readdirSync(path)) await giveTo(join(path, name), uid, gid)
}

/**
 * Copies the files of a running server into another folder: a base backup without pg_basebackup, which the embedded
 * PostgreSQL lacks. The copy needs the WAL from the start of the backup on, by streaming or from an archive.
 */
export const copyCluster = async ({ folder, url }: RunningCluster, target: string) => {
  const client = new pg.Client({ connectionString: url })
  client.on("error", () => {})
  await client.connect()
  try {
    await client.query("select pg_backup_start('copy', fast => true)")
    const [source, data] = [join(folder, "data"), join(target, "data")]
    mkdirSync(target, { recursive: true })
    cpSync(source, data, { recursive: true })
    cpSync(join(folder, "password"), join(target, "password"))
    for (const name of leftOut) rmSync(join(data, name), { force: true })
    const { rows } = await client.query("select labelfile from pg_backup_stop(wait_for_archive => false)")
    writeFileSync(join(data, "backup_label"), String(rows[0]?.labelfile))
    const { gid, uid } = statSync(source)
    if (process.getuid?.() === 0) await giveTo(data, uid, gid)
  } finally {
    await client.end()
  }
}
