import { extractXml } from "@stackforge-eu/factur-x"
import type { FakeServers } from "./fakeServers.ts"
import { pollUntil } from "./steps.ts"

/** The PDF in the source of a mail: the part with its name, in base64. */
const pdfIn = (source: string) => {
  const [, name = "", content = ""] = /filename=("?[\w-]+\.pdf"?).*?\r\n\r\n([\w+/=\r\n]+)/s.exec(source) ?? []
  if (content === "") throw new Error(`The mail has no PDF:\n${source.slice(0, 2000)}`)
  return { name: name.replaceAll('"', ""), bytes: Buffer.from(content, "base64") }
}

/** The link in the text of a mail, which breaks long lines with a `=` at their end. */
const linkIn = (source: string) => {
  const [link] = source.replace(/=\r?\n/g, "").match(/http:\/\/\S+\/i\/[\w-]{43}/) ?? []
  if (link === undefined) throw new Error("The mail has no link to the page of its invoice")
  return link
}

/** Waits for the mail, and reads the link in it, its PDF, and the XML in the PDF. */
export const findMail = async ({ mail: { mails } }: FakeServers, recipient: string, seconds: number) => {
  const find = async () => mails.find(({ to }) => to === recipient)
  const { source } = await pollUntil(`${recipient} gets the mail`, seconds, find)
  const pdf = pdfIn(source)
  const { filename: xmlName } = await extractXml(pdf.bytes)
  return { pdf, xmlName, link: linkIn(source) }
}

/** Opens the page of the invoice as the client does. Returns its status, which has to be the expected one. */
export const openPage = async (link: string, status: string) => {
  const response = await fetch(link)
  const html = await response.text()
  const [, shown] = /class="status[^"]*"[^>]*>\s*([^<]+?)\s*</.exec(html) ?? []
  if (shown !== status) throw new Error(`The page returned ${response.status} and says ${shown}, not ${status}`)
  return shown
}
