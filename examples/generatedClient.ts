import createClient from "openapi-fetch"
import type { paths } from "./contracting.ts"

interface Answer<A> {
  readonly data?: { readonly data: A }
  readonly error?: { readonly message: string }
}

const { GET, PATCH, POST } = createClient<paths>({
  baseUrl: process.env.API ?? "http://localhost:3000",
  headers: { authorization: `Bearer ${process.env.TOKEN}` }
})

const succeeded = <A>({ data, error }: Answer<A>): A => {
  if (data === undefined) throw new Error(error?.message)
  return data.data
}

const tenant = succeeded(await POST("/api/v1/tenants", { body: { name: "Harbour Works" } }))
const header = { "tenant-id": tenant.id }

const client = succeeded(await POST("/api/v1/clients", { params: { header }, body: { name: "Northwind", order: 1 } }))
const contract = succeeded(
  await POST("/api/v1/contracts", {
    params: { header },
    body: { clientId: client.id, name: "Maintenance", currencyCode: "EUR" }
  })
)
const project = succeeded(
  await POST("/api/v1/projects", { params: { header }, body: { contractId: contract.id, name: "Pump house" } })
)
const path = { projectId: project.id }
const patched = succeeded(
  await PATCH("/api/v1/projects/{projectId}", { params: { header, path }, body: { order: 3, description: "Roof too" } })
)
const inFull = succeeded(
  await GET("/api/v1/projects/{projectId}", { params: { path, query: { expand: "contract.client" } } })
)
const page = succeeded(await GET("/api/v1/projects", { params: { header, query: { limit: 1 } } }))
const { error } = await PATCH("/api/v1/contracts/{contractId}", {
  params: { header, path: { contractId: contract.id } },
  body: { name: "", status: "ENDED", paymentTermDays: -1 }
})

console.log(
  JSON.stringify({
    client,
    contract,
    patched,
    clientInFull:
      typeof inFull.contract === "string" || typeof inFull.contract.client === "string"
        ? undefined
        : inFull.contract.client,
    page,
    details: error?.error === "ValidationError" ? error.details : undefined
  })
)
