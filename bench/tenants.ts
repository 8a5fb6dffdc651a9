import { makeIdSuffix } from "../src/layers/postgres/IdGenerator.ts"

const idOf = (prefix: string) => `${prefix}_${makeIdSuffix(Date.now())}`

interface Contents {
  readonly role: string | undefined
  readonly clients: number
  readonly projects?: number
  readonly invoices?: number
  readonly status?: "DRAFT" | "FINALIZED"
  readonly lines?: number
}

const tenant = ({ clients, invoices = 0, lines = 0, projects = 0, role, status = "DRAFT" }: Contents) => ({
  id: idOf("tnt"),
  role,
  clients: Array.from({ length: clients }, () => idOf("clnt")),
  projects: Array.from({ length: projects }, () => idOf("prj")),
  invoices: Array.from({ length: invoices }, () => idOf("inv")),
  /** What all the invoices are, and how many lines each of them has. */
  status,
  lines
})

export type Tenant = ReturnType<typeof tenant>

/** What is seeded: the clients, projects and invoices of a tenant, and what the caller of the bench is there. */
export const tenants = {
  twenty: tenant({ role: "MEMBER", clients: 20 }),
  thousand: tenant({ role: "MEMBER", clients: 1000 }),
  written: tenant({ role: "MEMBER", clients: 0 }),
  atWork: tenant({ role: "MEMBER", clients: 20, projects: 512 }),
  // So many that none gets long while lines are added to all of them.
  drafting: tenant({ role: "MEMBER", clients: 20, invoices: 4096, lines: 1 }),
  draftingLong: tenant({ role: "MEMBER", clients: 20, invoices: 64, lines: 10_000 }),
  // The same number, and the same contracts, for each of three servers.
  voiding: tenant({ role: "ADMIN", clients: 20, invoices: 3 * 20 * 1024, status: "FINALIZED", lines: 3 }),
  foreign: tenant({ role: undefined, clients: 1, projects: 1, invoices: 1 })
}
