import { conflict } from "../../api/update.ts"
import { formatMoney, formatStatus } from "../format.ts"
import { Table } from "../Table.tsx"
import { Dialog } from "./Dialog.tsx"

/** `amountMinor` as people read it: Amount. */
const labelOf = (field: string) =>
  formatStatus(
    field
      .replace(/Minor$/, "")
      .replace(/[A-Z]/g, "_$&")
      .toUpperCase()
  )

const shownValue = (field: string, value: unknown, currencyCode: string): string => {
  if (value === undefined || value === null || value === "") return "—"
  if (Array.isArray(value)) return value.length === 0 ? "—" : value.join(", ")
  if (typeof value === "number" && field.endsWith("Minor")) return formatMoney(value, currencyCode)
  if (typeof value !== "object") return String(value)
  return Object.entries(value)
    .map(([part, inner]) => (part === "percent" ? `${inner} %` : shownValue(part, inner, currencyCode)))
    .join(", ")
}

/** Shows what another person has changed, and asks whether to apply our change to it. */
export const ConflictDialog = () => {
  const current = conflict.value
  if (current === undefined) return null
  const { currencyCode = "EUR", name } = current.base
  const shown = (field: string, value: unknown) => shownValue(field, value, String(currencyCode))
  return (
    <Dialog title="Somebody else was faster" onClose={() => current.resolve(false)} isWide>
      <p>
        {name === undefined ? "This" : <strong>{String(name)}</strong>} was changed after you opened it. Your change is
        not saved yet.
      </p>
      <Table
        label="Changes"
        columns={["Field", "When you opened it", "Now", "Your change"]}
        rows={current.fields.map(({ before, field, mine, theirs }) => ({
          key: field,
          cells: [
            labelOf(field),
            shown(field, before),
            <mark key="now">{shown(field, theirs)}</mark>,
            mine === undefined ? <span class="muted">not changed</span> : shown(field, mine)
          ]
        }))}
      />
      <footer class="actions">
        <button type="button" onClick={() => current.resolve(false)}>
          Keep theirs
        </button>
        <button type="button" class="primary" onClick={() => current.resolve(true)}>
          Apply my change
        </button>
      </footer>
    </Dialog>
  )
}
