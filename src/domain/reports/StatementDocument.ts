import type { DocumentTexts } from "../invoicing/document/DocumentTexts.ts"
import type { Parties } from "../invoicing/document/Parties.ts"
import type { Statement, StatementEntry } from "./Statement.ts"

/** The input of the PDF of a statement. */
export interface StatementDocument {
  readonly statement: Statement
  readonly parties: Pick<Parties, "tenant" | "client">
}

/** What an entry is for the client, with the number of its document. */
export const describeEntry = ({ documentNumber, kind, payment }: StatementEntry, { entries }: DocumentTexts) => {
  const reversed = payment === undefined ? "reversedWriteOff" : "reversedPayment"
  const text = entries[kind === "REVERSAL" ? reversed : kind]
  return documentNumber === undefined ? text : `${text} ${documentNumber}`
}
