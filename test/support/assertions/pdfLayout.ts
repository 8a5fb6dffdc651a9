import { assert } from "vitest"
import type { PdfPage, TextPiece } from "./pdfText.ts"

const margin = 48

const doOverlap = (one: TextPiece, other: TextPiece) =>
  Math.min(one.right, other.right) - Math.max(one.left, other.left) > 0.5 &&
  Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top) > 0.5

/** Checks that all texts of a page are within its margins, and that none covers another. */
export const assertNoOverflow = ({ height, pieces, width }: PdfPage) => {
  for (const [index, piece] of pieces.entries()) {
    const { bottom, left, right, text, top } = piece
    assert.isTrue(left >= margin - 0.01 && right <= width - margin + 0.01, `outside the horizontal margins: ${text}`)
    assert.isTrue(top >= margin - 0.01 && bottom <= height - margin + 0.01, `outside the vertical margins: ${text}`)
    const overlapping = pieces.slice(index + 1).find((other) => doOverlap(piece, other))
    assert.isUndefined(overlapping, `${text} overlaps ${overlapping?.text}`)
  }
}
