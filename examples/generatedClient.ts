import createClient from "openapi-fetch"
import type { paths } from "./contracting.ts"

interface ApiResponse<A> {
  readonly data?: { readonly data: A }
  readonly error?: { readonly message: string }
}

const { GET, PATCH, POST } = createClient<paths>({
  baseUrl: process.env.API ?? "http://localhost:3000",
  headers: { authorization: `Bearer ${process.env.TOKEN}` }
})

const requireData = <A>({ data, error }: ApiResponse<A>): A => {
  if (data === undefined) throw new Error(error?.message)
  return data.data
}

const tenant = requireData(await POST("/api/v1/tenants", { body: { name: "Harbour Works" } }))
const header = { "tenant-id": tenant.id }

const client = requireData(await POST("/api/v1/clients", { params: { header }, body: { name: "Northwind", order: 1 } }))
const contract = requireData(
  await POST("/api/v1/contracts", {
    params: { header },
    body: { clientId: client.id, name: "Maintenance", currencyCode: "EUR" }
  })
)
const project = requireData(
  await POST("/api/v1/projects", { params: { header }, body: { contractId: contract.id, name: "Pump house" } })
)
const path = { projectId: project.id }
const patched = requireData(
  await PATCH("/api/v1/projects/{projectId}", { params: { header, path }, body: { order: 3, description: "Roof too" } })
)
const expanded = requireData(
  await GET("/api/v1/projects/{projectId}", { params: { path, query: { expand: "contract.client" } } })
)
const page = requireData(await GET("/api/v1/projects", { params: { header, query: { limit: 1 } } }))
const { error } = await PATCH("/api/v1/contracts/{contractId}", {
  params: { header, path: { contractId: contract.id } },
  body: { name: "", status: "ENDED", paymentTermDays: -1 }
})

console.log(
  JSON.stringify({
    client,
    contract,
    patched,
    expandedClient:
      typeof expanded.contract === "string" || typeof expanded.contract.client === "string"
        ? undefined
        : expanded.contract.client,
    page,
    details: error?.error === "ValidationError" ? error.details : undefined
  })
)
