import type { EInvoice, Party } from "../EInvoice.ts"
import { isXmlText } from "../Texts.ts"
import { type ReadinessError, requireRule } from "./ReadinessError.ts"

type Texts = Readonly<Record<string, string | undefined>>

const partyTexts = (side: string, party: Party): Texts => {
  const address = `${side}.address`
  return {
    [`${address}.name`]: party.name,
    [`${side}.name`]: party.tradingName,
    [`${address}.address1`]: party.address?.line1,
    [`${address}.address2`]: party.address?.line2,
    [`${address}.city`]: party.address?.city,
    [`${address}.zip`]: party.address?.postCode,
    [`${address}.region`]: party.address?.region,
    [`${address}.registrationNumber`]: party.registrationNumber,
    [`${address}.vatNumber`]: party.vatNumber,
    [`${address}.taxNumber`]: party.taxNumber,
    [`${address}.electronicAddress.value`]: party.electronicAddress?.value,
    [`${side}.billingContact.name`]: party.contact?.name,
    [`${side}.billingContact.phone`]: party.contact?.phone,
    [`${side}.billingContact.email`]: party.contact?.email
  }
}

/** The fields of the API with the note and the number. */
export const noteField = ({ typeCode }: Pick<EInvoice, "typeCode">) => (typeCode === "381" ? "reason" : "notes")
export const numberField = ({ typeCode }: Pick<EInvoice, "typeCode">) =>
  typeCode === "381" ? "creditNoteNumber" : "invoiceNumber"

/** The free texts of an e-invoice, by the field of the API that has them. */
const textsOf = (invoice: EInvoice): Texts => ({
  ...partyTexts("tenant", invoice.seller),
  ...partyTexts("client", invoice.buyer),
  [numberField(invoice)]: invoice.number,
  buyerReference: invoice.buyerReference,
  purchaseOrder: invoice.purchaseOrder,
  [noteField(invoice)]: invoice.note,
  discountReason: invoice.allowances[0]?.reason,
  "tenant.bankAccount.name": invoice.payment?.accountName,
  ...Object.fromEntries(
    invoice.lines.flatMap(({ allowances, description, name }, index) => [
      [`billables[${index}].name`, name],
      [`billables[${index}].description`, description],
      [`billables[${index}].discountReason`, allowances[0]?.reason]
    ])
  ),
  ...Object.fromEntries(
    invoice.vatBreakdown.map(({ exemptionReason }, index) => [`taxes[${index}].exemptionReason`, exemptionReason])
  )
})

/** The characters that XML cannot contain. */
export const findTextErrors = (invoice: EInvoice): ReadonlyArray<ReadinessError> =>
  Object.entries(textsOf(invoice)).flatMap(([field, text = ""]) =>
    requireRule(isXmlText(text), "XML-CHAR", field, "Remove the control characters, which XML cannot contain.")
  )
