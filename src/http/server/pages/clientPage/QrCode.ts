import qrcode from "qrcode-generator"
import { type Html, html } from "../../../../domain/Html.ts"

/** The margin that readers need, in modules. */
const quietZone = 4

/** One path for all dark modules: a rectangle for each run in a row. */
const pathOf = (size: number, isDark: (row: number, column: number) => boolean) => {
  let path = ""
  for (let row = 0; row < size; row++) {
    for (let column = 0; column < size; column++) {
      const start = column
      while (column < size && isDark(row, column)) column++
      if (column > start) path += `M${start + quietZone} ${row + quietZone}h${column - start}v1h${start - column}z`
    }
  }
  return path
}

/** A QR code as SVG, black on white in every colour scheme. Level M and bytes in UTF-8, as EPC069-12 requires. */
export const renderQrCode = (payload: string, alternative: string): Html => {
  const code = qrcode(0, "M")
  // The package takes the low byte of each character.
  code.addData(Buffer.from(payload).toString("latin1"), "Byte")
  code.make()
  const size = code.getModuleCount()
  const side = size + 2 * quietZone
  const path = pathOf(size, (row, column) => code.isDark(row, column))
  return html`<svg class="qr" role="img" aria-label="${alternative}" viewBox="0 0 ${side} ${side}" shape-rendering="crispEdges"><path fill="#fff" d="M0 0h${side}v${side}H0z"/><path fill="#000" d="${path}"/></svg>`
}
