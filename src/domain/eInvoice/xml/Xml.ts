/** An element of an XML document, with a text or with elements in it. */
export interface XmlElement {
  readonly name: string
  readonly attributes: Readonly<Record<string, string>>
  readonly content: string | ReadonlyArray<XmlElement>
}

/** What an element contains. Undefined is left out. */
type Content = string | undefined | ReadonlyArray<XmlElement | undefined>

const isPresent = (element: XmlElement | undefined): element is XmlElement => element !== undefined

/** An element, or undefined without content. */
export const element = (
  name: string,
  content: Content,
  attributes: Readonly<Record<string, string>> = {}
): XmlElement | undefined => {
  if (content === undefined || typeof content === "string")
    return content === undefined ? undefined : { name, attributes, content }
  const children = content.filter(isPresent)
  return children.length === 0 ? undefined : { name, attributes, content: children }
}

/** An element that the schema requires, even without content. */
export const requiredElement = (
  name: string,
  content: ReadonlyArray<XmlElement | undefined>,
  attributes: Readonly<Record<string, string>> = {}
): XmlElement => ({ name, attributes, content: content.filter(isPresent) })

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  // Parsers turn these into other white space unless they are escaped.
  "\r": "&#13;",
  "\n": "&#10;",
  "\t": "&#9;"
}

const escapeText = (text: string) => text.replace(/[&<>\r]/g, (character) => entities[character] ?? character)

const escapeAttribute = (text: string) => text.replace(/[&<>"\r\n\t]/g, (character) => entities[character] ?? character)

const startOf = ({ attributes, name }: XmlElement) =>
  [name, ...Object.entries(attributes).map(([key, value]) => `${key}="${escapeAttribute(value)}"`)].join(" ")

const linesOf = (element: XmlElement, indent: string): ReadonlyArray<string> => {
  const start = startOf(element)
  const { content, name } = element
  if (typeof content === "string") return [`${indent}<${start}>${escapeText(content)}</${name}>`]
  if (content.length === 0) return [`${indent}<${start}/>`]
  return [`${indent}<${start}>`, ...content.flatMap((child) => linesOf(child, `${indent}  `)), `${indent}</${name}>`]
}

/** The element as a part of a document. The same element always gives the same text. */
export const formatElement = (part: XmlElement) => `${linesOf(part, "").join("\n")}\n`

/** The element as a document. */
export const formatXml = (root: XmlElement) => `<?xml version="1.0" encoding="UTF-8"?>\n${formatElement(root)}`
