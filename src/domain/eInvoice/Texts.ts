/** The text without surrounding white space, or undefined if nothing is left: the standard knows no empty texts. */
export const presentText = (text: string | undefined) => {
  const trimmed = text?.trim()
  return trimmed === "" ? undefined : trimmed
}

/** The characters that no XML 1.0 document can contain, not even escaped. */
const forbidden = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/u

export const isXmlText = (text: string) => !forbidden.test(text)

/** An amount with two decimals. */
export const formatAmount = (minor: number) => {
  const digits = String(Math.abs(minor)).padStart(3, "0")
  return `${minor < 0 ? "-" : ""}${digits.slice(0, -2)}.${digits.slice(-2)}`
}
