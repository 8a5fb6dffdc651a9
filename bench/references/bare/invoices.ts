import { voidInvoice } from "../invoiceVoiding.ts"
import { withTenant } from "./access.ts"
import { notFound } from "./response.ts"

const voidPath = /^\/api\/v1\/invoices\/([^/?]+)\/void$/
const invoiceIdPattern = /^inv_[a-z0-9]{1,64}$/

export const isVoidPath = (url: string) => voidPath.test(url)

export const handleVoidInvoice = withTenant("ADMIN", async ({ url = "" }, tenant) => {
  const id = voidPath.exec(url)?.[1] ?? ""
  if (!invoiceIdPattern.test(id)) return notFound
  return { status: 200, body: `{"data":${JSON.stringify(await voidInvoice(tenant, id))}}` }
})
