import type { Parties } from "../../../domain/invoicing/Parties.ts"
import type { PdfCanvas, TextLine } from "./PdfCanvas.ts"

type Party = Parties["tenant"]

/** The postal address, followed by the registration and VAT numbers. */
const addressLines = ({ address }: Party) =>
  address === undefined
    ? []
    : [
        address.address1,
        address.address2,
        `${address.zip} ${address.city}`,
        address.region,
        address.country,
        address.registrationNumber && `Reg. no. ${address.registrationNumber}`,
        address.vatNumber && `VAT ${address.vatNumber}`
      ].filter((line) => line !== undefined)

/** The text block of a party: the legal name first, then its other name if that differs. */
export const partyLines = (canvas: PdfCanvas, title: string, party: Party, width: number): ReadonlyArray<TextLine> => {
  const name = party.address?.name ?? party.name
  const otherName = name === party.name ? [] : [party.name]
  return [
    ...canvas.wrapText(title, { size: 7, faint: true }, width),
    ...canvas.wrapText(name, { size: 10, bold: true }, width),
    ...[...otherName, ...addressLines(party)].flatMap((line) => canvas.wrapText(line ?? "", { size: 9 }, width))
  ]
}
