import { Dialog } from "../ui/forms/Dialog.tsx"
import { places } from "./places.ts"

const shortcuts: ReadonlyArray<readonly [keys: string, effect: string]> = [
  ["Ctrl K", "Search clients, contracts, invoices and integrations"],
  ["/", "Filter the list"],
  ...places.map(({ key, label }) => [`g ${key}`, `Open ${label}`] as const),
  ["Enter ↓ ↑", "Move between the lines of an invoice; Enter on the last one adds a line"],
  ["Ctrl V", "Paste lines from a spreadsheet: name, quantity, price, discount"],
  ["Ctrl S", "Save the invoice"],
  ["Alt Delete", "Remove the line"],
  ["Escape", "Close a dialog"]
]

export const Shortcuts = ({ onClose }: { readonly onClose: () => void }) => (
  <Dialog title="Keyboard" onClose={onClose}>
    <dl class="shortcuts">
      {shortcuts.map(([keys, effect]) => (
        <div key={keys}>
          <dt>
            <kbd>{keys}</kbd>
          </dt>
          <dd>{effect}</dd>
        </div>
      ))}
    </dl>
  </Dialog>
)
