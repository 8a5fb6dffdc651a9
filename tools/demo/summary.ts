import type { ContractingClient, Tenant } from "../../dist/client/index.js"

const invoiceStatuses = ["DRAFT", "FINALIZED", "PAID", "VOID"] as const

type Counts = ReadonlyArray<readonly [kind: string, count: number]>

/** What the tenant has, counted by the API. */
export const countAll = async (api: ContractingClient): Promise<Counts> => {
  const [integrations, invoices] = await Promise.all([api.integrations.list().toArray(), api.invoices.list().toArray()])
  const count = async (list: { readonly toArray: () => Promise<ReadonlyArray<unknown>> }) =>
    (await list.toArray()).length
  const sum = async (countOf: (integrationId: string) => Promise<number>) =>
    (await Promise.all(integrations.map(({ id }) => countOf(id)))).reduce((total, one) => total + one, 0)
  return [
    ["clients", await count(api.clients.list())],
    ["addresses", await count(api.addresses.list())],
    ["contacts", await count(api.contacts.list())],
    ["emails", await count(api.emails.list())],
    ["contracts", await count(api.contracts.list())],
    ["projects", await count(api.projects.list())],
    ["invoices", invoices.length],
    ...invoiceStatuses.map(
      (wanted) => [`  ${wanted}`, invoices.filter(({ status }) => status === wanted).length] as const
    ),
    ["payments", await count(api.payments.list())],
    ["credit notes", await count(api.creditNotes.list())],
    ["billables", await count(api.billables.list({ limit: 200 }))],
    ["members", await count(api.members.list())],
    ["integrations", integrations.length],
    ["issues", await sum((id) => count(api.issues.list(id)))],
    ["deliveries", await sum((id) => count(api.deliveries.list(id)))]
  ]
}

/** The table of what the tenant has, and what of it is new. */
export const describeTenant = ({ id, name }: Tenant, before: Counts, after: Counts) => {
  const earlier = new Map(before)
  const line = (kind: string, count: string, added: string) =>
    `  ${kind.padEnd(14)}${count.padStart(6)}${added.padStart(6)}`
  const rows = after.map(([kind, count]) => line(kind, String(count), String(count - (earlier.get(kind) ?? 0))))
  return [`${name}, ${id}`, "", line("", "all", "new"), ...rows].join("\n")
}
