import type { Loaded, Schemas } from "../../api/client.ts"
import { CreditNoteDialog } from "../settling/CreditNoteDialog.tsx"
import { PaymentDialog, ReverseWriteOffDialog, SendDialog, WriteOffDialog } from "../settling/InvoiceDialogs.tsx"
import { LinkDialog } from "../settling/LinkDialog.tsx"
import { VoidDialog } from "../settling/VoidDialog.tsx"
import { ExplainDialog } from "./ExplainDialog.tsx"
import { FinalizeDialog } from "./FinalizeDialog.tsx"

/** The dialog that is open on an invoice. */
export type Panel =
  | "finalize"
  | "send"
  | "payment"
  | "credit"
  | "void"
  | "explain"
  | "link"
  | "writeOff"
  | "reverseWriteOff"
  | undefined

interface PanelsProps {
  readonly panel: Panel
  readonly loaded: Loaded<Schemas["Invoice"]>
  readonly lines: ReadonlyArray<Schemas["Billable"]>
  readonly onClose: () => void
}

/** The open dialog. */
export const InvoicePanels = ({ lines, panel, ...props }: PanelsProps) => {
  switch (panel) {
    case "finalize":
      // The answer may be lost, or another person faster.
      return props.loaded.value.status === "DRAFT" ? <FinalizeDialog {...props} /> : null
    case "send":
      return <SendDialog {...props} />
    case "payment":
      return <PaymentDialog {...props} />
    case "credit":
      return <CreditNoteDialog {...props} lines={lines} />
    case "void":
      return <VoidDialog {...props} />
    case "writeOff":
      return <WriteOffDialog {...props} />
    case "reverseWriteOff":
      return <ReverseWriteOffDialog {...props} />
    case "explain":
      return <ExplainDialog invoiceId={props.loaded.value.id} onClose={props.onClose} />
    case "link":
      return <LinkDialog invoiceId={props.loaded.value.id} onClose={props.onClose} />
    default:
      return null
  }
}
