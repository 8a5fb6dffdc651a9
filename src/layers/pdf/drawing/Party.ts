import type { Parties } from "../../../domain/invoicing/Parties.ts"
import type { Sheet, TextOptions } from "./Sheet.ts"

type Party = Parties["tenant"]

/** The lines of a letter's address, and what authorities want to see below it. */
const linesOf = ({ address }: Party) =>
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
      ].filter((line) => line !== undefined && line !== "")

/** One side of the invoice as a block; tells where it ended. */
export const drawParty = (sheet: Sheet, title: string, party: Party, at: Pick<TextOptions, "x" | "width">) => {
  let y = sheet.write(title, { ...at, size: 7.5, faint: true }, sheet.y) + 2
  const legalName = party.address?.name
  y = sheet.write(legalName ?? party.name, { ...at, bold: true, size: 10 }, y) + 1
  if (legalName !== undefined && legalName !== party.name) y = sheet.write(party.name, at, y)
  for (const line of linesOf(party)) y = sheet.write(line ?? "", at, y)
  return y
}
