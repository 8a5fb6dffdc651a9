import { assert } from "vitest"
import type { Service } from "./service.ts"

/** What each resource must be given beside the one it belongs to. */
const least = {
  tenants: { name: "Tenant" },
  clients: { name: "Client" },
  addresses: { name: "Head office", address1: "1 Quay", country: "Norway", city: "Bergen", zip: "5003" },
  contacts: { name: "Contact" },
  emails: { address: "contact@example.test" },
  contracts: { name: "Contract", currencyCode: "EUR" },
  projects: { name: "Project" }
} as const

export type Kind = keyof typeof least

/** What each belongs to, and the field of its creation that says so. */
export const parents: Partial<Record<Kind, { readonly field: string; readonly kind: Kind }>> = {
  addresses: { field: "clientId", kind: "clients" },
  contacts: { field: "clientId", kind: "clients" },
  emails: { field: "contactId", kind: "contacts" },
  contracts: { field: "clientId", kind: "clients" },
  projects: { field: "contractId", kind: "contracts" }
}

/** A resource as the API shows it. */
export interface Shown {
  readonly id: string
  readonly [field: string]: unknown
}

/** Makes resources in a tenant, each below a parent of its own unless `fields` name one (or, as undefined, none). */
export const makerIn = (service: Service, tenant: string, as = "owner") => {
  const bodyOf = async (kind: Kind, fields: object = {}): Promise<object> => {
    const parent = parents[kind]
    const reference = parent === undefined || parent.field in fields ? {} : { [parent.field]: await idOf(parent.kind) }
    return { ...least[kind], ...reference, ...fields }
  }
  const make = async (kind: Kind, fields: object = {}): Promise<Shown> => {
    const { body, status, text } = await service.api("POST", `/${kind}`, {
      as,
      tenant,
      body: await bodyOf(kind, fields)
    })
    assert.strictEqual(status, 201, text)
    return body.data
  }
  const idOf = async (kind: Kind) => (await make(kind)).id
  return { bodyOf, make }
}
