import { openPool } from "./database.ts"
import { startService } from "./service.ts"

type Environment = Readonly<Record<string, string>>

/** The service, and a pool to its database. Without settings, the service is shared: see `startService`. */
export const startServiceWithPool = async (environment?: Environment) => {
  const service = await startService(environment)
  const pool = openPool(service.database.url)
  const stop = async () => {
    await pool.end()
    await service.stop()
  }
  return { service, pool, stop }
}

/** The same with a tenant of `owner`. */
export const startServiceWithTenant = async (environment?: Environment) => {
  const started = await startServiceWithPool(environment)
  return { ...started, tenant: await started.service.newTenant() }
}
