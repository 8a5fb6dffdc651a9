const needed = (name: string) => {
  const value = process.env[name]
  if (value === undefined) throw new Error(`${name} is needed`)
  return value
}

/** What a reference server is told: the same settings, under the same names, as the service. */
export const environment = {
  port: Number(needed("PORT")),
  databaseUrl: needed("DATABASE_URL"),
  databasePool: Number(needed("DATABASE_POOL")),
  jwksUrl: needed("AUTH_JWKS_URL"),
  issuer: needed("AUTH_ISSUER"),
  audience: needed("AUTH_AUDIENCE")
}

/** Standard input is a pipe from the bench and closes with it, however it ends. */
export const exitWithBench = () => {
  process.stdin.once("end", () => process.exit()).once("error", () => process.exit())
  process.stdin.resume()
}
