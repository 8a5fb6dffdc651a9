import { connect } from "nats"
import type pg from "pg"

/** Base64 has three forms of a text, depending on its offset in the encoded data. */
const inBase64 = (bytes: Buffer) =>
  [0, 1, 2].map((before) => {
    const whole = Buffer.concat([Buffer.alloc(before), bytes])
      .toString("base64")
      .replace(/=+$/, "")
    const first = before === 0 ? 0 : before + 1
    const last = (before + bytes.length) % 3 === 0 ? whole.length : whole.length - 1
    return whole.slice(first, last)
  })

/** The encodings in which a secret could leak. */
export const encodingsOf = (secret: string): ReadonlyArray<string> => {
  const bytes = Buffer.from(secret)
  const base64 = inBase64(bytes)
  return [
    secret,
    encodeURIComponent(secret),
    JSON.stringify(secret).slice(1, -1),
    bytes.toString("hex"),
    ...base64,
    ...base64.map((form) => form.replaceAll("+", "-").replaceAll("/", "_"))
  ]
}

/** The secrets that a text contains in any encoding. */
export const findLeaks = (text: string, secrets: ReadonlyArray<string>) =>
  secrets.filter((secret) => encodingsOf(secret).some((form) => text.includes(form)))

/** Every row of every table, as text. */
export const dumpTables = async (pool: pg.Pool) => {
  const { rows: tables } = await pool.query<{ name: string }>(
    "select table_name as name from information_schema.tables where table_schema = current_schema()"
  )
  const kept: Array<string> = []
  for (const { name } of tables) {
    const { rows } = await pool.query<{ row: string }>(`select this::text as row from ${name} this`)
    kept.push(...rows.map(({ row }) => `${name} ${row}`))
  }
  return kept
}

/** Every message the broker keeps under a namespace, with its subject and headers. */
export const dumpMessages = async (natsUrl: string, namespace: string) => {
  const connection = await connect({ servers: natsUrl })
  const manager = await connection.jetstreamManager()
  const kept: Array<string> = []
  for (const { config, state } of await manager.streams.list().next()) {
    if (!config.name.startsWith(namespace)) continue
    for (let seq = state.first_seq; seq <= state.last_seq; seq++) {
      const message = await manager.streams.getMessage(config.name, { seq })
      kept.push(`${message.subject} ${message.header} ${message.string()}`)
    }
  }
  await connection.close()
  return kept
}
