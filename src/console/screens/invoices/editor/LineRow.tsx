import { Component } from "preact"
import { netOfLine } from "../../../../domain/invoicing/draft/DraftTotals.ts"
import type { Schemas } from "../../../api/client.ts"
import { Money } from "../../../ui/Value.tsx"
import { type Column, columns, type EditedLine, parseLine } from "./draftLines.ts"

export const labels: Readonly<Record<Column, string>> = {
  name: "Name",
  quantity: "Quantity",
  amount: "Price",
  discount: "Discount"
}

export const cellId = (index: number, column: string) => `cell-${index}-${column}`

const taxOptions = (rates: ReadonlyArray<Schemas["TaxRate"]>, current: ReadonlyArray<string>) => {
  const names = new Map(rates.map(({ id, name }) => [id, name]))
  const active = rates.filter(({ archivedAt, id }) => archivedAt === undefined || current.includes(id))
  const single = active.map(({ id, name }) => [id, name] as const)
  const key = current.join(" ")
  const isListed = current.length === 0 || single.some(([id]) => id === key)
  return [
    ["", "No tax"] as const,
    ...single,
    ...(isListed ? [] : [[key, current.map((id) => names.get(id) ?? id).join(" + ")] as const])
  ]
}

/** What one can do with a line. The same object as long as the grid lives. */
export interface LineActions {
  readonly edit: (index: number, change: Partial<EditedLine>) => void
  readonly remove: (index: number) => void
  readonly onKeyDown: (event: KeyboardEvent, index: number, column: Column) => void
  readonly onPaste: (event: ClipboardEvent, index: number, column: Column) => void
}

interface LineRowProps {
  readonly line: EditedLine
  readonly index: number
  readonly currencyCode: string
  readonly rates: ReadonlyArray<Schemas["TaxRate"]>
  readonly isNarrow: boolean
  readonly actions: LineActions
}

/** One line. It renders again when it has changed, not with every key in another line. */
export class LineRow extends Component<LineRowProps> {
  override shouldComponentUpdate(next: LineRowProps) {
    const { index, isNarrow, line, rates } = this.props
    return next.line !== line || next.index !== index || next.isNarrow !== isNarrow || next.rates !== rates
  }
  override render({ actions, currencyCode, index, isNarrow, line, rates }: LineRowProps) {
    const total = netOfLine(parseLine(line, currencyCode).line)
    return (
      <fieldset
        class={line.isRemoved ? "line removed" : "line"}
        aria-label={`Line ${index + 1}${line.isRemoved ? ", removed" : ""}`}
      >
        <span class="muted number">{index + 1}</span>
        {columns.map((column) => (
          <div key={column} class={`cell ${column}`}>
            <input
              id={cellId(index, column)}
              aria-label={`${labels[column]}, line ${index + 1}`}
              aria-invalid={line.errors[column] !== undefined}
              {...(line.errors[column] === undefined
                ? {}
                : { "aria-describedby": `${cellId(index, column)}-error`, title: line.errors[column] })}
              placeholder={isNarrow ? labels[column] : ""}
              inputMode={column === "name" ? "text" : "decimal"}
              autoComplete="off"
              disabled={line.isRemoved}
              value={line[column]}
              onInput={({ currentTarget }) => actions.edit(index, { [column]: currentTarget.value })}
              onKeyDown={(event) => actions.onKeyDown(event, index, column)}
              onPaste={(event) => actions.onPaste(event, index, column)}
            />
            {line.errors[column] !== undefined && (
              <small id={`${cellId(index, column)}-error`} class="error">
                {line.errors[column]}
              </small>
            )}
          </div>
        ))}
        <select
          class="cell tax"
          aria-label={`Tax, line ${index + 1}`}
          disabled={line.isRemoved}
          value={line.taxRates.join(" ")}
          onChange={({ currentTarget }) =>
            actions.edit(index, { taxRates: currentTarget.value.split(" ").filter((id) => id !== "") })
          }
        >
          {taxOptions(rates, line.taxRates).map(([value, label]) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
        <output class="right total" aria-label={`Total, line ${index + 1}`}>
          {total === undefined ? "—" : <Money amountMinor={total} currencyCode={currencyCode} />}
        </output>
        <button
          type="button"
          class="quiet"
          aria-label={`${line.isRemoved ? "Keep" : "Remove"} line ${index + 1}`}
          onClick={() => actions.remove(index)}
        >
          {line.isRemoved ? "↶" : "×"}
        </button>
      </fieldset>
    )
  }
}
