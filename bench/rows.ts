import { tenants } from "./tenants.ts"

/** One kind of request to be measured. The references must serve it as well. */
export interface Row {
  readonly name: string
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE"
  readonly path: string
  readonly tenant: string
  readonly headers?: Readonly<Record<string, string>>
  /** The body of the n-th request; some of them are made beforehand and sent in turn. */
  readonly body?: (n: number) => object
}

export const rows: ReadonlyArray<Row> = [
  { name: "GET /clients, 20 clients", method: "GET", path: "/api/v1/clients", tenant: tenants.twenty.id },
  { name: "GET /clients, 1000 clients", method: "GET", path: "/api/v1/clients", tenant: tenants.thousand.id },
  {
    name: "POST /clients",
    method: "POST",
    path: "/api/v1/clients",
    tenant: tenants.written.id,
    body: (n) => ({ name: `Client ${n}`, ...(n % 3 === 0 ? { description: `The ${n}th of those posted` } : {}) })
  }
]
