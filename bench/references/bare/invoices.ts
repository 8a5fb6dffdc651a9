import { voidInvoice } from "../voiding.ts"
import { inTenant } from "./access.ts"
import { notFound } from "./answer.ts"

const path = /^\/api\/v1\/invoices\/([^/?]+)\/void$/
const identifier = /^inv_[a-z0-9]{1,64}$/

export const isVoidPath = (url: string) => path.test(url)

export const voidOne = inTenant("ADMIN", async ({ url = "" }, tenant) => {
  const id = path.exec(url)?.[1] ?? ""
  if (!identifier.test(id)) return notFound
  return { status: 200, body: `{"data":${JSON.stringify(await voidInvoice(tenant, id))}}` }
})
