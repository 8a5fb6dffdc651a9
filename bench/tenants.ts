import { suffix } from "../src/layers/Ids.ts"

const idOf = (prefix: string) => `${prefix}_${suffix(Date.now())}`

interface Contents {
  readonly role: string | undefined
  readonly clients: number
  readonly projects?: number
}

const tenant = ({ clients, projects = 0, role }: Contents) => ({
  id: idOf("tnt"),
  role,
  clients: Array.from({ length: clients }, () => idOf("clnt")),
  projects: Array.from({ length: projects }, () => idOf("prj"))
})

export type Tenant = ReturnType<typeof tenant>

/** What is seeded: the clients and projects of a tenant, and what the caller of the bench is there. */
export const tenants = {
  twenty: tenant({ role: "MEMBER", clients: 20 }),
  thousand: tenant({ role: "MEMBER", clients: 1000 }),
  written: tenant({ role: "MEMBER", clients: 0 }),
  atWork: tenant({ role: "MEMBER", clients: 20, projects: 512 }),
  foreign: tenant({ role: undefined, clients: 1, projects: 1 })
}
