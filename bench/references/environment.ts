const requireVariable = (name: string) => {
  const value = process.env[name]
  if (value === undefined) throw new Error(`${name} is required`)
  return value
}

/** The same environment variables as the service. */
export const environment = {
  port: Number(requireVariable("PORT")),
  databaseUrl: requireVariable("DATABASE_URL"),
  databasePool: Number(requireVariable("DATABASE_POOL")),
  jwksUrl: requireVariable("AUTH_JWKS_URL"),
  issuer: requireVariable("AUTH_ISSUER"),
  audience: requireVariable("AUTH_AUDIENCE")
}

/** Standard input is a pipe from the bench, which closes with it even when the bench is killed. */
export const exitWithBench = () => {
  process.stdin.once("end", () => process.exit()).once("error", () => process.exit())
  process.stdin.resume()
}
