import type { Line, Sheet } from "./Sheet.ts"
import { leadingOf } from "./Sheet.ts"

export interface Column {
  readonly x: number
  readonly lines: ReadonlyArray<Line>
}

/** Texts side by side, line beside line, going on over the page if they must. */
export const drawColumns = (sheet: Sheet, columns: ReadonlyArray<Column>) => {
  const rows = Math.max(...columns.map(({ lines }) => lines.length))
  for (let row = 0; row < rows; row++) {
    const present = columns.flatMap(({ lines, x }) => {
      const line = lines[row]
      return line === undefined ? [] : [{ x, line }]
    })
    const leading = Math.max(...present.map(({ line }) => leadingOf(line)))
    if (!sheet.fits(leading)) sheet.newPage()
    sheet.y += leading
    for (const { line, x } of present) sheet.draw(line, x, sheet.y - leading * 0.26)
  }
}
