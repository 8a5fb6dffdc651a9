import { useRef, useState } from "preact/hooks"
import { lineAmounts } from "../../../domain/money/InvoiceArithmetic.ts"
import type { Schemas } from "../../api/client.ts"
import { useNarrow } from "../../ui/narrow.ts"
import { Money } from "../../ui/Value.tsx"
import { VirtualList } from "../../ui/VirtualList.tsx"
import { type Column, columns, type EditedLine, newLine, parseLine, pasteLines } from "./draftLines.ts"

/** As high as `.line` in the style sheet. */
const rowHeights = { wide: 52, narrow: 148 }

interface LineGridProps {
  readonly lines: ReadonlyArray<EditedLine>
  readonly onChange: (lines: ReadonlyArray<EditedLine>) => void
  readonly currencyCode: string
  readonly rates: ReadonlyArray<Schemas["TaxRate"]>
  readonly defaultTaxRates: ReadonlyArray<string>
}

const labels: Readonly<Record<Column, string>> = {
  name: "Name",
  quantity: "Quantity",
  amount: "Price",
  discount: "Discount"
}

const cellId = (index: number, column: string) => `cell-${index}-${column}`

/** The row may be out of view, and is rendered when the list has scrolled to it. */
const focusCell = (index: number, column: Column) =>
  requestAnimationFrame(() =>
    requestAnimationFrame(() => {
      const cell = document.getElementById(cellId(index, column))
      if (cell instanceof HTMLInputElement) {
        cell.focus()
        cell.select()
      }
    })
  )

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

/** The lines of a draft as a grid: every cell by keyboard, and paste from a spreadsheet. */
export const LineGrid = ({ currencyCode, defaultTaxRates, lines, onChange, rates }: LineGridProps) => {
  const [focused, setFocused] = useState<number | undefined>(undefined)
  const grid = useRef<HTMLDivElement>(null)
  const isNarrow = useNarrow(grid)
  const go = (index: number, column: Column) => {
    setFocused(index)
    focusCell(index, column)
  }
  const edit = (index: number, change: Partial<EditedLine>) =>
    onChange(lines.map((line, at) => (at === index ? { ...line, ...change, errors: {} } : line)))
  const remove = (index: number) => {
    const line = lines[index]
    if (line?.base === undefined) onChange(lines.filter((_, at) => at !== index))
    else edit(index, { isRemoved: !line.isRemoved })
  }
  const onKeyDown = (event: KeyboardEvent, index: number, column: Column) => {
    const step = event.key === "ArrowUp" ? -1 : event.key === "ArrowDown" || event.key === "Enter" ? 1 : 0
    if (event.altKey && (event.key === "Delete" || event.key === "Backspace")) {
      event.preventDefault()
      return remove(index)
    }
    if (step === 0 || event.ctrlKey || event.metaKey) return
    event.preventDefault()
    if (index + step < 0) return
    if (index + step === lines.length) {
      if (event.key !== "Enter") return
      onChange([...lines, newLine(defaultTaxRates)])
      return go(index + 1, "name")
    }
    go(index + step, column)
  }
  const onPaste = (event: ClipboardEvent, index: number, column: Column) => {
    const text = event.clipboardData?.getData("text/plain") ?? ""
    if (!/[\t\n]/.test(text.trim())) return
    event.preventDefault()
    onChange(pasteLines(lines, { text, index, column, currencyCode, taxRates: defaultTaxRates }))
  }
  return (
    <div ref={grid} class={isNarrow ? "grid stacked" : "grid"}>
      <div class="line head" aria-hidden="true">
        <span>#</span>
        {columns.map((column) => (
          <span key={column}>{labels[column]}</span>
        ))}
        <span>Tax</span>
        <span class="right">Total</span>
        <span />
      </div>
      <VirtualList
        items={lines}
        rowHeight={isNarrow ? rowHeights.narrow : rowHeights.wide}
        label="Lines"
        keyOf={({ key }) => key}
        focused={focused}
        row={(line, index) => {
          const total = lineAmounts(parseLine(line, currencyCode).line)?.lineTotalMinor
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
                    onInput={({ currentTarget }) => edit(index, { [column]: currentTarget.value })}
                    onKeyDown={(event) => onKeyDown(event, index, column)}
                    onPaste={(event) => onPaste(event, index, column)}
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
                  edit(index, { taxRates: currentTarget.value.split(" ").filter((id) => id !== "") })
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
                onClick={() => remove(index)}
              >
                {line.isRemoved ? "↶" : "×"}
              </button>
            </fieldset>
          )
        }}
      />
      <button
        type="button"
        class="quiet add-line"
        onClick={() => {
          onChange([...lines, newLine(defaultTaxRates)])
          go(lines.length, "name")
        }}
      >
        + Add a line
      </button>
    </div>
  )
}
