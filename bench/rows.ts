import { addedLines, addedLinesToLong, voids } from "./invoicingRows.ts"
import { type Ask, inForeignTenant, type Refusal, type Row } from "./row.ts"
import { type Tenant, tenants } from "./tenants.ts"

/** A project of a foreign tenant is as little there as what cannot be one. */
const noProject = (askFor: (project: string) => Ask): ReadonlyArray<Refusal> => [
  { what: "for a project of a foreign tenant", status: 404, ask: askFor(tenants.foreign.projects[0] ?? "") },
  { what: "for what is no identifier", status: 404, ask: askFor("none") }
]

const differentBodies = 64

const listOfClients = (name: string, { id }: Tenant): Row => {
  const ask = { path: "/api/v1/clients", tenant: id }
  return { name, method: "GET", asks: [ask], refusals: [inForeignTenant(ask)] }
}

const newClients = (name: string, { id }: Tenant): Row => {
  const ask = (n: number) => ({
    path: "/api/v1/clients",
    tenant: id,
    body: { name: `Client ${n}`, ...(n % 3 === 0 ? { description: `The ${n}th of those posted` } : {}) }
  })
  return {
    name,
    method: "POST",
    asks: Array.from({ length: differentBodies }, (_, n) => ask(n)),
    refusals: [inForeignTenant(ask(0))]
  }
}

const oneProject = (name: string, { projects }: Tenant, query: string): Row => {
  const ask = (project: string) => ({ path: `/api/v1/projects/${project}${query}` })
  return { name, method: "GET", asks: projects.map(ask), refusals: noProject(ask) }
}

/** Some changes take away what others set. */
const changes = [
  (n: number) => ({ name: `Renamed ${n}` }),
  (n: number) => ({ description: `Described again, as the ${n}th`, order: n }),
  (n: number) => ({ name: `Moved to the end ${n}`, description: null, order: null })
]

const changesOfProjects = (name: string, { id, projects }: Tenant): Row => {
  const ask = (project: string, n = 0) => ({
    path: `/api/v1/projects/${project}`,
    tenant: id,
    body: changes[n % changes.length]?.(n) ?? {}
  })
  const [first = ""] = projects
  return {
    name,
    method: "PATCH",
    asks: projects.map(ask),
    refusals: [inForeignTenant(ask(first)), ...noProject(ask)]
  }
}

export const rows: ReadonlyArray<Row> = [
  listOfClients("GET /clients, 20 clients", tenants.twenty),
  listOfClients("GET /clients, 1000 clients", tenants.thousand),
  newClients("POST /clients", tenants.written),
  oneProject("GET /projects/{id}", tenants.atWork, ""),
  oneProject("GET /projects/{id}?expand=contract,contract.client", tenants.atWork, "?expand=contract,contract.client"),
  changesOfProjects("PATCH /projects/{id}", tenants.atWork),
  addedLines,
  addedLinesToLong,
  voids
]
