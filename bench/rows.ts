import { byCallers, inTurns } from "./callerRows.ts"
import {
  addLines,
  addLinesToLongInvoice,
  addTaxedLines,
  addTaxedLinesToLongInvoice,
  finalizeInvoice,
  voidInvoice
} from "./invoicingRows.ts"
import { defaultReferences, type RejectedRequest, type Row, type RowRequest, rejectInForeignTenant } from "./row.ts"
import { finalizeCreditNote, recordPayment } from "./settlementRows.ts"
import { manyTenants, type SeedTenant, tenants } from "./tenants.ts"

type Tenants = ReadonlyArray<SeedTenant>

/** Both are a 404, so that a response does not reveal foreign projects. */
const rejectUnknownProjects = (request: RowRequest): ReadonlyArray<RejectedRequest> => {
  const withProject = (project: string) => ({ ...request, path: request.path.replace(/prj_\w+/, project) })
  return [
    {
      description: "for a project of a foreign tenant",
      status: 404,
      request: withProject(tenants.foreign.projects[0] ?? "")
    },
    { description: "with an invalid id", status: 404, request: withProject("none") }
  ]
}

const listClients = (tenants: Tenants) => {
  const requests = inTurns(
    tenants,
    ({ id }) => [id],
    ({ id }) => ({ path: "/api/v1/clients", tenant: id })
  )
  return { method: "GET", requests, rejected: requests.slice(0, 1).map(rejectInForeignTenant) } as const
}

const distinctBodies = 64

const createClient = (tenants: Tenants) => {
  const bodies = Array.from({ length: distinctBodies / tenants.length }, (_, n) => n)
  const requests = inTurns(
    tenants,
    () => bodies,
    ({ id }, _, n) => ({
      path: "/api/v1/clients",
      tenant: id,
      body: { name: `Client ${n}`, ...(n % 3 === 0 ? { description: `The ${n}th of those posted` } : {}) }
    })
  )
  return { method: "POST", requests, rejected: requests.slice(0, 1).map(rejectInForeignTenant) } as const
}

const readProject = (query: string) => (tenants: Tenants) => {
  const requests = inTurns(
    tenants,
    ({ projects }) => projects,
    (_, project) => ({ path: `/api/v1/projects/${project}${query}` })
  )
  return { method: "GET", requests, rejected: requests.slice(0, 1).flatMap(rejectUnknownProjects) } as const
}

/** Some changes clear what others set. */
const projectChanges = [
  (n: number) => ({ name: `Renamed ${n}` }),
  (n: number) => ({ description: `Described again, as the ${n}th`, order: n }),
  (n: number) => ({ name: `Moved to the end ${n}`, description: null, order: null })
]

const patchProject = (tenants: Tenants) => {
  const requests = inTurns(
    tenants,
    ({ projects }) => projects,
    ({ id }, project, n) => ({
      path: `/api/v1/projects/${project}`,
      tenant: id,
      body: projectChanges[n % projectChanges.length]?.(n) ?? {}
    })
  )
  const rejected = requests
    .slice(0, 1)
    .flatMap((first) => [rejectInForeignTenant(first), ...rejectUnknownProjects(first)])
  return { method: "PATCH", requests, rejected } as const
}

/** Also with the HTTP server and the SQL client of Effect as their documentation shows them. */
const withStock = [...defaultReferences, "stock"] as const

export const rows: ReadonlyArray<Row> = [
  ...byCallers("GET /clients, 20 clients", listClients, tenants.with20Clients, manyTenants.withData),
  { ...listClients([tenants.with1000Clients]), name: "GET /clients, 1000 clients", hasBudget: false },
  ...byCallers("POST /clients", createClient, tenants.forNewClients, manyTenants.forNewClients, withStock),
  ...byCallers("GET /projects/{id}", readProject(""), tenants.withProjects, manyTenants.withData, withStock),
  ...byCallers(
    "GET /projects/{id}?expand=contract,contract.client",
    readProject("?expand=contract,contract.client"),
    tenants.withProjects,
    manyTenants.withData
  ),
  ...byCallers("PATCH /projects/{id}", patchProject, tenants.withProjects, manyTenants.withData),
  ...addLines,
  addLinesToLongInvoice,
  addTaxedLines,
  addTaxedLinesToLongInvoice,
  finalizeInvoice,
  voidInvoice,
  recordPayment,
  finalizeCreditNote
]
