import { useLocation } from "preact-iso/router"
import type { Schemas } from "../../api/client.ts"
import { hasRole, inTenant } from "../../api/session.ts"
import type { Panel } from "./InvoicePanels.tsx"

interface ActionsProps {
  readonly invoice: Schemas["Invoice"]
  readonly open: (panel: Panel) => void
  readonly save: () => Promise<boolean>
  readonly isDirty: boolean
  readonly onDelete: () => void
}

/** What the status and the role allow, the next step last and in colour. */
export const InvoiceActions = ({
  invoice: { balanceMinor, status, totalMinor },
  isDirty,
  onDelete,
  open,
  save
}: ActionsProps) => {
  const isAdmin = hasRole("ADMIN")
  if (status === "DRAFT")
    return (
      <>
        {hasRole("MEMBER") && (
          <>
            <button type="button" class="quiet danger" onClick={onDelete}>
              Delete
            </button>
            <button
              type="button"
              class={isDirty ? "primary" : ""}
              aria-disabled={!isDirty}
              onClick={() => isDirty && void save()}
            >
              Save
            </button>
          </>
        )}
        {isAdmin && (
          <button
            type="button"
            class={isDirty ? "" : "primary"}
            onClick={async () => (!isDirty || (await save())) && open("finalize")}
          >
            Finalize…
          </button>
        )}
      </>
    )
  const credit = (
    <button type="button" onClick={() => open("credit")}>
      Credit note
    </button>
  )
  if (status === "VOID") return null
  if (!isAdmin) return hasRole("MEMBER") ? credit : null
  return (
    <>
      {status === "FINALIZED" && balanceMinor === totalMinor && (
        <button type="button" class="quiet danger" onClick={() => open("void")}>
          Void
        </button>
      )}
      {credit}
      {status === "FINALIZED" && (
        <button type="button" onClick={() => open("payment")}>
          Record payment
        </button>
      )}
      <button type="button" class="primary" onClick={() => open("send")}>
        Send
      </button>
    </>
  )
}

interface ToolbarProps {
  readonly invoice: Schemas["Invoice"]
  readonly open: (panel: Panel) => void
  readonly isPreviewed: boolean
}

/** What one looks at beside the lines, and what is rarely done. */
export const InvoiceToolbar = ({ invoice, isPreviewed, open }: ToolbarProps) => {
  const { route } = useLocation()
  const tool = (panel: Panel, label: string) => (
    <button type="button" class="quiet" onClick={() => open(panel)}>
      {label}
    </button>
  )
  const isAdmin = hasRole("ADMIN")
  return (
    <div class="toolbar">
      <button
        type="button"
        class="quiet"
        aria-pressed={isPreviewed}
        onClick={() => route(inTenant(`/invoices/${invoice.id}${isPreviewed ? "" : "?preview=pdf"}`))}
      >
        {isPreviewed ? "Hide PDF" : "Show PDF"}
      </button>
      {tool("explain", "Explain")}
      {invoice.issuedAt !== undefined && hasRole("MEMBER") && tool("link", "Client’s page")}
      {invoice.status === "FINALIZED" && isAdmin && tool("writeOff", "Write off")}
      {invoice.writtenOffMinor > 0 && isAdmin && tool("reverseWriteOff", "Take the write-off back")}
    </div>
  )
}
