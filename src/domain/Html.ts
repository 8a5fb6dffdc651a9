const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;"
}

export const escapeHtml = (plain: string) => plain.replace(/[&<>"']/g, (sign) => entities[sign] ?? sign)

/** Not exported, so that only the template below makes markup. */
class SafeHtml {
  readonly markup: string
  constructor(markup: string) {
    this.markup = markup
  }
}
/** Markup of which every value is escaped. */
export type Html = SafeHtml

type HtmlValue = string | number | Html | ReadonlyArray<Html> | undefined

const markupOf = (value: HtmlValue): string => {
  if (value === undefined) return ""
  if (value instanceof SafeHtml) return value.markup
  return typeof value === "object" ? value.map(markupOf).join("") : escapeHtml(String(value))
}

/** A template of markup. It escapes each value, also within quoted attributes. Undefined writes nothing. */
export const html = (parts: TemplateStringsArray, ...values: ReadonlyArray<HtmlValue>): Html =>
  new SafeHtml(parts.map((part, n) => part + markupOf(values[n])).join(""))
