import { computed, signal } from "@preact/signals"
import type { components } from "../generated/api.ts"

type Schemas = components["schemas"]
export type Role = Schemas["Member"]["role"]

/** The access token lives here and nowhere else: a reload signs in again. */
export const token = signal<string | undefined>(undefined)
/** How to get a new access token, if the identity provider gave a refresh token. */
export const refreshToken = signal<(() => Promise<string>) | undefined>(undefined)

export const tenants = signal<ReadonlyArray<Schemas["Tenant"]>>([])
/** The tenant that the address names. */
export const tenantId = signal<string | undefined>(undefined)
export const member = signal<Schemas["Member"] | undefined>(undefined)

export const tenant = computed(() => tenants.value.find(({ id }) => id === tenantId.value))

/** Ascending, as the API lists them. */
export const roles: ReadonlyArray<Role> = ["VIEWER", "MEMBER", "ADMIN", "OWNER"]

/** Whether the signed-in person may do what takes this role. What they may not do is not offered. */
export const hasRole = (required: Role) =>
  member.value !== undefined && roles.indexOf(member.value.role) >= roles.indexOf(required)

/** The settings that the server writes into the page. */
export interface PageSettings {
  readonly development: boolean
  readonly oidc?: { readonly issuer: string; readonly clientId: string; readonly audience?: string }
}

export const pageSettings: PageSettings = JSON.parse(document.body.dataset["settings"] ?? "{}")

/** An address inside of the tenant. */
export const inTenant = (path: string) => `/console/${tenantId.value}${path}`
