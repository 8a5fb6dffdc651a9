import { defaultLanguage, type Language } from "../../locale/Language.ts"
import { formatLocalAmount, formatLocalNumber, makeDayFormat } from "../../locale/LocaleFormat.ts"
import { defaultTimeZone, localDateOf } from "../../locale/TimeZone.ts"
import { type DocumentTexts, documentTexts } from "./DocumentTexts.ts"
import type { Parties } from "./Parties.ts"

/** How a document writes texts, numbers and days. */
export interface DocumentLocale {
  readonly language: Language
  readonly texts: DocumentTexts
  /** False for parties without a language, whose documents keep the look of the release that froze them. */
  readonly isChosen: boolean
  readonly formatAmount: (amountMinor: number, currencyCode: string) => string
  readonly formatQuantity: (quantity: number) => string
  readonly formatPercent: (percent: number) => string
  /** The day of a timestamp in the time zone of the tenant. */
  readonly formatTimestamp: (timestamp: string) => string
  /** A day such as 2026-11-14. */
  readonly formatDay: (day: string) => string
}

/**
 * The locale of the client. Parties without a language were frozen by a release that knew none: what is still rendered of
 * their invoices, such as the file of a void one, must not differ from the files that are saved.
 */
export const documentLocaleOf = ({ client, tenant }: Pick<Parties, "client" | "tenant">): DocumentLocale => {
  const { language = defaultLanguage } = client
  const timeZone = tenant.timeZone ?? defaultTimeZone
  const isChosen = client.language !== undefined
  const days = isChosen
    ? { formatTimestamp: makeDayFormat(language, timeZone), formatDay: makeDayFormat(language, "UTC") }
    : { formatTimestamp: (timestamp: string) => localDateOf(timestamp, timeZone), formatDay: (day: string) => day }
  return {
    language,
    texts: documentTexts[language],
    isChosen,
    formatAmount: (amountMinor, currencyCode) => formatLocalAmount(amountMinor, currencyCode, language),
    formatQuantity: (quantity) => formatLocalNumber(quantity, language),
    formatPercent: (percent) => `${formatLocalNumber(percent, language)} %`,
    ...days
  }
}
