import pg from "pg"

const probeTimeoutMs = 2000

type Role = "primary" | "standby" | "away"

const roleOf = async (url: string): Promise<Role> => {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: probeTimeoutMs,
    query_timeout: probeTimeoutMs
  })
  client.on("error", () => {})
  try {
    await client.connect()
    const { rows } = await client.query("show transaction_read_only")
    return rows[0]?.transaction_read_only === "off" ? "primary" : "standby"
  } catch {
    return "away"
  } finally {
    client.end().catch(() => {})
  }
}

/** Resolves to the first server that has the role. */
const firstWith = (role: Role, roles: ReadonlyArray<readonly [string, Promise<Role>]>) =>
  Promise.any(
    roles.map(async ([url, found]) => ((await found) === role ? url : Promise.reject(new Error(`not a ${role}`))))
  ).catch(() => undefined)

/** Knows which of several servers accepts writes. While none does, it knows one that can be read. */
export const makePrimaryServer = (urls: readonly [string, ...ReadonlyArray<string>]) => {
  let current = urls[0]
  let search: Promise<void> | undefined

  const find = async () => {
    const roles = urls.map((url) => [url, roleOf(url)] as const)
    current = (await firstWith("primary", roles)) ?? (await firstWith("standby", roles)) ?? current
  }

  return {
    /** The URL for the next connection. */
    url: () => current,

    hasOthers: urls.length > 1,

    /** After a failure that another server may not have. Concurrent callers share a search. */
    findAgain: (): Promise<void> => {
      if (urls.length === 1) return Promise.resolve()
      search ??= find().finally(() => {
        search = undefined
      })
      return search
    }
  }
}
