export interface Column<A> {
  readonly title: string
  readonly cell: (line: A) => string
  readonly isText?: boolean
}

/** Formats a Markdown table: text is left-aligned, numbers are right-aligned. */
export const formatTable = <A>(columns: ReadonlyArray<Column<A>>, lines: ReadonlyArray<A>) => {
  const padded = columns.map(({ cell, title, isText = false }) => {
    const cells = [title, ...lines.map(cell)]
    const width = Math.max(...cells.map(({ length }) => length))
    const [head = "", ...rest] = cells.map((text) => ` ${isText ? text.padEnd(width) : text.padStart(width)} `)
    return [head, isText ? "-".repeat(width + 2) : `${"-".repeat(width + 1)}:`, ...rest]
  })
  const rows = Array.from({ length: lines.length + 2 }, (_, row) => padded.map((column) => column[row]))
  return rows.map((cells) => `|${cells.join("|")}|`).join("\n")
}
