import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { projectRoot } from "../../../tools/local/ProjectRoot.ts"

const markdownIn = (folder: string) =>
  readdirSync(join(projectRoot, folder))
    .filter((name) => name.endsWith(".md"))
    .map((name) => join(folder, name))

/** Every page of the documentation, as a path from the project's folder. */
export const pages = ["", "docs"].flatMap(markdownIn)

export const readPage = (path: string) => readFileSync(join(projectRoot, path), "utf8")

const fence = /^```(\w*)\n(.*?)^```$/gms

/** The text of a page without its code blocks. */
export const proseOf = (text: string) => text.replaceAll(fence, "")

/** The text under a heading, up to the next heading of the same or a higher level. Fails when there is none. */
export const sectionOf = (page: string, heading: string) => {
  const [, marks = "", rest] = new RegExp(`^(#+) ${heading}\n(.*)`, "ms").exec(readPage(page)) ?? []
  if (rest === undefined) throw new Error(`${page} has no heading "${heading}"`)
  return rest.split(new RegExp(`^#{1,${marks.length}} `, "m"))[0] ?? ""
}

/** The code blocks of a language in a text. */
export const blocksOf = (text: string, language: string) =>
  [...text.matchAll(fence)].filter(([, found]) => found === language).map(([, , code = ""]) => code)

/** The shell commands of a page, or of one of its sections. */
export const shellOf = (page: string, heading?: string) =>
  blocksOf(heading === undefined ? readPage(page) : sectionOf(page, heading), "sh").join("\n")

/** The cells of every table row in a text, without code marks. */
export const tableRowsOf = (text: string) =>
  text
    .split("\n")
    .filter((line) => line.startsWith("|") && !/^\|[-:| ]+\|$/.test(line))
    .map((line) =>
      line
        .slice(1, -1)
        .split("|")
        .map((cell) => cell.replaceAll("`", "").trim())
    )
