/** Splits `postgres://user@one:5432,two:5432/name`, the form of libpq for several servers, into a URL per server. */
export const splitDatabaseUrl = (text: string): ReadonlyArray<string> => {
  const [, start = "", hosts = "", end = ""] = /^(\w+:\/\/(?:[^@/]*@)?)([^/?]*)(.*)$/s.exec(text) ?? []
  return hosts.split(",").map((host) => `${start}${host}${end}`)
}
