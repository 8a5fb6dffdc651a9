/** The data of an event as far as the console looks into it: the resource at that time. */
const textOf = (data: unknown, name: string) => {
  const value = typeof data === "object" && data !== null ? Object.entries(data).find(([key]) => key === name)?.[1] : ""
  return typeof value === "string" ? value : ""
}

/** The address of a resource's screen, from the field that names it. */
const addresses: Readonly<Record<string, readonly [path: string, field: string, suffix?: string]>> = {
  client: ["/clients/", "id"],
  address: ["/clients/", "client"],
  contact: ["/clients/", "client"],
  contract: ["/contracts/", "id"],
  project: ["/contracts/", "contract"],
  invoice: ["/invoices/", "id"],
  billable: ["/invoices/", "invoice"],
  payment: ["/payments/", "id"],
  credit_note: ["/credit-notes/", "id"],
  integration: ["/integrations/", "id"],
  issue: ["/integrations/", "integration", "/issues"]
}

interface EventLike {
  readonly type: string
  readonly client?: string
  readonly data: unknown
}

/** The screen of what an event is about, if there is one and it is not deleted. */
export const pathOfResource = ({ client, data, type }: EventLike) => {
  const [resource = "", action] = type.split(".")
  if (resource === "email" && client !== undefined) return `/clients/${client}`
  const [path, field = "", suffix = ""] = addresses[resource] ?? []
  const id = textOf(data, field)
  const isGone = action === "deleted" && field === "id"
  return path === undefined || id === "" || isGone ? undefined : path + id + suffix
}

const nameFields = ["name", "invoiceNumber", "creditNoteNumber", "issueKey", "address", "subject", "pattern", "id"]

/** The name or number of what an event is about. */
export const nameOfResource = ({ data }: EventLike) =>
  nameFields.map((field) => textOf(data, field)).find((text) => text !== "") ?? ""
