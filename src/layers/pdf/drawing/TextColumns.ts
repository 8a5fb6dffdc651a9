import type { PdfCanvas, TextLine } from "./PdfCanvas.ts"
import { leadingOf } from "./PdfCanvas.ts"

export interface TextColumn {
  readonly x: number
  readonly lines: ReadonlyArray<TextLine>
}

/** Draws columns of text row by row and continues on a new page when needed. */
export const drawTextColumns = (canvas: PdfCanvas, columns: ReadonlyArray<TextColumn>) => {
  const rows = Math.max(...columns.map(({ lines }) => lines.length))
  for (let row = 0; row < rows; row++) {
    const cells = columns.flatMap(({ lines, x }) => {
      const line = lines[row]
      return line === undefined ? [] : [{ x, line }]
    })
    const leading = Math.max(...cells.map(({ line }) => leadingOf(line)))
    if (!canvas.hasRoom(leading)) canvas.newPage()
    canvas.y += leading
    for (const { line, x } of cells) canvas.drawText(line, x, canvas.y - leading * 0.26)
  }
}
