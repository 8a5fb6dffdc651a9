import { suffix } from "../src/layers/Ids.ts"

const tenant = (clients: number, role: string | undefined) => ({ id: `tnt_${suffix(Date.now())}`, clients, role })

/** What is seeded: how many clients a tenant has, and what the caller of the bench is there. */
export const tenants = {
  twenty: tenant(20, "MEMBER"),
  thousand: tenant(1000, "MEMBER"),
  written: tenant(0, "MEMBER"),
  foreign: tenant(0, undefined)
}
