import type { Parties } from "../../../domain/invoicing/Parties.ts"
import type { Line, Sheet } from "./Sheet.ts"

type Party = Parties["tenant"]

/** The lines of a letter's address, and what authorities want to see below it. */
const addressOf = ({ address }: Party) =>
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

/** One side of the invoice: under its legal name, with the one it is known by if that is another. */
export const partyLines = (sheet: Sheet, title: string, party: Party, width: number): ReadonlyArray<Line> => {
  const name = party.address?.name ?? party.name
  const knownAs = name === party.name ? [] : [party.name]
  return [
    ...sheet.lines(title, { size: 7, faint: true }, width),
    ...sheet.lines(name, { size: 10, bold: true }, width),
    ...[...knownAs, ...addressOf(party)].flatMap((line) => sheet.lines(line ?? "", { size: 9 }, width))
  ]
}
