import { finalizeCreditNote } from "../creditNoteFinalization.ts"
import { withTenant } from "./access.ts"
import { notFound } from "./response.ts"

const finalizePath = /^\/api\/v1\/credit-notes\/([^/?]+)\/finalize$/
const creditNoteIdPattern = /^crn_[a-z0-9]{1,64}$/

export const isCreditNotePath = (url: string) => finalizePath.test(url)

export const handleFinalizeCreditNote = withTenant("ADMIN", async ({ url = "" }, caller) => {
  const [, id = ""] = finalizePath.exec(url) ?? []
  if (!creditNoteIdPattern.test(id)) return notFound
  return { status: 200, body: `{"data":${JSON.stringify(await finalizeCreditNote(caller, id))}}` }
})
