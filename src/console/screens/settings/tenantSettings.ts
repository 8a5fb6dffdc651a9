import { api, done, type Loaded, load, read, type Schemas } from "../../api/client.ts"
import { useQuery } from "../../api/query.ts"
import { tenantId, tenants } from "../../api/session.ts"
import { updateVersion } from "../../api/update.ts"

export type Tenant = Schemas["Tenant"]

const pathOf = () => ({ tenantId: tenantId.value ?? "" })

/** The header of the page and the other screens show what is saved here. */
const remember = (saved: Tenant) => {
  tenants.value = tenants.value.map((tenant) => (tenant.id === saved.id ? saved : tenant))
  return saved
}

const readTenant = () => load(api.GET("/api/v1/tenants/{tenantId}", { params: { path: pathOf() } }))

export const useTenant = () => useQuery("tenant", readTenant)

/** Changes fields of the tenant. Undefined if somebody else was faster and our change was given up. */
export const saveTenant = (loaded: Loaded<Tenant>, body: Schemas["PatchTenant"]) =>
  updateVersion(
    loaded,
    body,
    async (headers) =>
      remember(await read(api.PATCH("/api/v1/tenants/{tenantId}", { params: { path: pathOf() }, body, headers }))),
    readTenant
  )

/** Puts an image into a slot of the tenant, or empties the slot. */
export const saveImage = (loaded: Loaded<Tenant>, slot: string, assetId: string | undefined) => {
  const params = { path: { ...pathOf(), slot } }
  return updateVersion(
    loaded,
    {},
    async (headers) => {
      if (assetId !== undefined)
        await read(api.PUT("/api/v1/tenants/{tenantId}/media/{slot}", { params, body: { assetId }, headers }))
      else await done(api.DELETE("/api/v1/tenants/{tenantId}/media/{slot}", { params, headers }))
      return remember((await readTenant()).value)
    },
    readTenant
  )
}
