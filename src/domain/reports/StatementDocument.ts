import type { Parties } from "../invoicing/document/Parties.ts"
import type { JournalKind } from "../journal/JournalEntry.ts"
import type { Statement, StatementEntry } from "./Statement.ts"

/** The input of the PDF of a statement. */
export interface StatementDocument {
  readonly statement: Statement
  readonly parties: Pick<Parties, "tenant" | "client">
}

const kindTexts: Readonly<Record<JournalKind, string>> = {
  INVOICE: "Invoice",
  VOID: "Voided invoice",
  CREDIT_NOTE: "Credit note",
  PAYMENT: "Payment",
  ALLOCATION: "Allocation",
  REFUND: "Refund",
  REVERSAL: "Reversal",
  WRITE_OFF: "Write-off"
}

/** What an entry is for the client, with the number of its document. */
export const describeEntry = ({ documentNumber, kind, payment }: StatementEntry) => {
  const reversed = payment === undefined ? "Reversed write-off" : "Reversed payment"
  const text = kind === "REVERSAL" ? reversed : kindTexts[kind]
  return documentNumber === undefined ? text : `${text} ${documentNumber}`
}
