import {
  addLines,
  addLinesToLongInvoice,
  addTaxedLines,
  addTaxedLinesToLongInvoice,
  finalizeInvoice,
  voidInvoice
} from "./invoicingRows.ts"
import { type RejectedRequest, type Row, type RowRequest, rejectInForeignTenant } from "./row.ts"
import { finalizeCreditNote, recordPayment } from "./settlementRows.ts"
import { type SeedTenant, tenants } from "./tenants.ts"

/** Both are a 404, so that a response does not reveal foreign projects. */
const rejectUnknownProjects = (makeRequest: (project: string) => RowRequest): ReadonlyArray<RejectedRequest> => [
  {
    description: "for a project of a foreign tenant",
    status: 404,
    request: makeRequest(tenants.foreign.projects[0] ?? "")
  },
  { description: "with an invalid id", status: 404, request: makeRequest("none") }
]

const distinctBodies = 64

const makeListClientsRow = (name: string, { id }: SeedTenant): Row => {
  const request = { path: "/api/v1/clients", tenant: id }
  return { name, method: "GET", requests: [request], rejected: [rejectInForeignTenant(request)] }
}

const makeCreateClientRow = (name: string, { id }: SeedTenant): Row => {
  const makeRequest = (n: number) => ({
    path: "/api/v1/clients",
    tenant: id,
    body: { name: `Client ${n}`, ...(n % 3 === 0 ? { description: `The ${n}th of those posted` } : {}) }
  })
  return {
    name,
    method: "POST",
    requests: Array.from({ length: distinctBodies }, (_, n) => makeRequest(n)),
    rejected: [rejectInForeignTenant(makeRequest(0))]
  }
}

const makeReadProjectRow = (name: string, { projects }: SeedTenant, query: string): Row => {
  const makeRequest = (project: string) => ({ path: `/api/v1/projects/${project}${query}` })
  return { name, method: "GET", requests: projects.map(makeRequest), rejected: rejectUnknownProjects(makeRequest) }
}

/** Some changes clear what others set. */
const projectChanges = [
  (n: number) => ({ name: `Renamed ${n}` }),
  (n: number) => ({ description: `Described again, as the ${n}th`, order: n }),
  (n: number) => ({ name: `Moved to the end ${n}`, description: null, order: null })
]

const makePatchProjectRow = (name: string, { id, projects }: SeedTenant): Row => {
  const makeRequest = (project: string, n = 0) => ({
    path: `/api/v1/projects/${project}`,
    tenant: id,
    body: projectChanges[n % projectChanges.length]?.(n) ?? {}
  })
  const [first = ""] = projects
  return {
    name,
    method: "PATCH",
    requests: projects.map(makeRequest),
    rejected: [rejectInForeignTenant(makeRequest(first)), ...rejectUnknownProjects(makeRequest)]
  }
}

export const rows: ReadonlyArray<Row> = [
  makeListClientsRow("GET /clients, 20 clients", tenants.with20Clients),
  makeListClientsRow("GET /clients, 1000 clients", tenants.with1000Clients),
  makeCreateClientRow("POST /clients", tenants.forNewClients),
  makeReadProjectRow("GET /projects/{id}", tenants.withProjects, ""),
  makeReadProjectRow(
    "GET /projects/{id}?expand=contract,contract.client",
    tenants.withProjects,
    "?expand=contract,contract.client"
  ),
  makePatchProjectRow("PATCH /projects/{id}", tenants.withProjects),
  addLines,
  addLinesToLongInvoice,
  addTaxedLines,
  addTaxedLinesToLongInvoice,
  finalizeInvoice,
  voidInvoice,
  recordPayment,
  finalizeCreditNote
]
