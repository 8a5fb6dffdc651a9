import { useMemo, useRef, useState } from "preact/hooks"
import type { Schemas } from "../../../api/client.ts"
import { VirtualList } from "../../../ui/lists/VirtualList.tsx"
import { useNarrow } from "../../../ui/narrow.ts"
import { type Column, columns, type EditedLine, newLine, pasteLines } from "./draftLines.ts"
import { cellId, type LineActions, LineRow, labels } from "./LineRow.tsx"

/** As high as `.line` in the style sheet. */
const rowHeights = { wide: 52, narrow: 148 }

interface LineGridProps {
  readonly lines: ReadonlyArray<EditedLine>
  readonly onChange: (lines: ReadonlyArray<EditedLine>) => void
  readonly currencyCode: string
  readonly rates: ReadonlyArray<Schemas["TaxRate"]>
  readonly defaultTaxRates: ReadonlyArray<string>
}

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
  const latest = useRef({ edit, remove, onKeyDown, onPaste })
  latest.current = { edit, remove, onKeyDown, onPaste }
  const actions = useMemo(
    (): LineActions => ({
      edit: (...args) => latest.current.edit(...args),
      remove: (...args) => latest.current.remove(...args),
      onKeyDown: (...args) => latest.current.onKeyDown(...args),
      onPaste: (...args) => latest.current.onPaste(...args)
    }),
    []
  )
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
        row={(line, index) => (
          <LineRow
            line={line}
            index={index}
            currencyCode={currencyCode}
            rates={rates}
            isNarrow={isNarrow}
            actions={actions}
          />
        )}
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
