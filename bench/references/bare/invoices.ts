import { finalizeInvoice } from "../invoiceFinalization.ts"
import { voidInvoice } from "../invoiceVoiding.ts"
import { withTenant } from "./access.ts"
import { notFound } from "./response.ts"

const transitionPath = /^\/api\/v1\/invoices\/([^/?]+)\/(finalize|void)$/
const invoiceIdPattern = /^inv_[a-z0-9]{1,64}$/

export const isTransitionPath = (url: string) => transitionPath.test(url)

export const handleTransition = withTenant("ADMIN", async ({ url = "" }, caller) => {
  const [, id = "", transition] = transitionPath.exec(url) ?? []
  if (!invoiceIdPattern.test(id)) return notFound
  const apply = transition === "void" ? voidInvoice : finalizeInvoice
  return { status: 200, body: `{"data":${JSON.stringify(await apply(caller, id))}}` }
})
