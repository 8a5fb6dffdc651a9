import type { EditedLine } from "./draftLines.ts"
import type { EditedDiscount } from "./rebaseLines.ts"

/**
 * What was typed into a draft and is not saved. Session storage keeps it while somebody looks at another screen, reloads
 * or signs in again; it ends with the tab.
 */
export interface KeptDraft {
  readonly lines: ReadonlyArray<EditedLine>
  readonly discount: EditedDiscount
}

const storageName = (invoiceId: string) => `draft:${invoiceId}`

export const readKeptDraft = (invoiceId: string): KeptDraft | undefined => {
  const text = sessionStorage.getItem(storageName(invoiceId))
  return text === null ? undefined : JSON.parse(text)
}

export const forgetDraft = (invoiceId: string) => sessionStorage.removeItem(storageName(invoiceId))

export const keepDraft = (invoiceId: string, draft: KeptDraft) => {
  try {
    sessionStorage.setItem(storageName(invoiceId), JSON.stringify(draft))
  } catch {
    // The storage is full. The browser has asked before it left the page.
  }
}
