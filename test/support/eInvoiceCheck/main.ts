import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { isDeepStrictEqual, parseArgs } from "node:util"
import fc from "fast-check"
import { toEInvoice } from "../../../src/domain/eInvoice/EInvoiceMapping.ts"
import type { EInvoiceSource } from "../../../src/domain/eInvoice/EInvoiceSource.ts"
import { findReadinessErrors } from "../../../src/domain/eInvoice/readiness/Readiness.ts"
import { loadFonts } from "../../../src/layers/infra/pdf/drawing/Fonts.ts"
import { drawInvoice } from "../../../src/layers/infra/pdf/drawing/InvoiceLayout.ts"
import { encodeAttachment, encodeEInvoice } from "../../../src/layers/infra/pdf/EInvoiceEncoding.ts"
import { projectRoot } from "../../../tools/local/ProjectRoot.ts"
import {
  expectedTotals,
  isWellFormed,
  makeCiiSchemaCheck,
  readTotals,
  type Syntax,
  syntaxes
} from "../assertions/eInvoiceXml.ts"
import { readHybrid } from "../assertions/hybridPdf.ts"
import { documentOfSource } from "../fixtures/hybridDocuments.ts"
import { eInvoiceSources } from "../fixtures/randomEInvoices.ts"
import { spoilings } from "../fixtures/spoiledEInvoices.ts"
import { findBrokenRules } from "./validator.ts"

/**
 * Rules of the standard that its own validation artefacts do not contain, or that our two decimals hide from them. Only the
 * readiness check reports these.
 */
const unvalidated = ["BR-CO-25", "BR-DEC-14", "BR-DEC-15"]

/** Rules that break because another one does, which the readiness check reports. */
const causes: Readonly<Record<string, ReadonlyArray<string>>> = {
  "BR-CL-03": ["BR-CL-04", "BR-CL-05"],
  "BR-CL-25": ["BR-62", "BR-63"],
  "BR-CO-10": ["BR-16"],
  "BR-CO-11": ["BR-16", "BR-CO-04"],
  "BR-CO-13": ["BR-16", "BR-CO-04"],
  "BR-CO-14": ["BR-16", "BR-CO-04"],
  "BR-CO-15": ["BR-53"],
  "BR-CO-18": ["BR-16", "BR-CO-04"],
  "BR-DEC-15": ["BR-53"],
  // The rules of CII do not tell allowances from charges.
  "BR-O-14": ["BR-O-13"],
  "UBL-SR-07": ["BR-55"],
  "UBL-SR-48": ["BR-CO-04"]
}

const say = (text: string) => process.stdout.write(`${text}\n`)

interface Document {
  readonly file: string
  readonly syntax: Syntax
  readonly xml: string
}

/** Writes both syntaxes of an e-invoice into the folder. */
const writeDocuments = (folder: string, name: string, source: EInvoiceSource): ReadonlyArray<Document> => {
  const invoice = toEInvoice(source)
  return (["cii", "ubl"] as const).map((syntax) => {
    const file = join(folder, `${name}.${syntax}.xml`)
    const xml = syntaxes[syntax](invoice)
    writeFileSync(file, xml)
    return { file, syntax, xml }
  })
}

const batchSize = 10

/** Validates all files, a batch at a time, and says how far it is. */
const validateAll = async (validator: string, files: ReadonlyArray<string>) => {
  const broken = new Map<string, ReadonlySet<string>>()
  for (let start = 0; start < files.length; start += batchSize) {
    const results = await findBrokenRules(validator, files.slice(start, start + batchSize))
    for (const [file, rules] of results) broken.set(file, rules)
    say(`  ${broken.size} of ${files.length} files validated`)
  }
  return broken
}

const fonts = loadFonts(pathToFileURL(`${projectRoot}/node_modules/dejavu-fonts-ttf/ttf/`))

/** Compares the XML in the PDF of each e-invoice with that of the API. */
const checkHybrids = async (sources: ReadonlyArray<EInvoiceSource>) => {
  const faults: Array<string> = []
  for (const [index, source] of sources.entries()) {
    const document = documentOfSource(source)
    const pdf = await drawInvoice(fonts, document, { eInvoice: encodeAttachment(document) })
    const [attachment] = (await readHybrid(pdf)).attachments
    const isEqual = Buffer.from(attachment?.bytes ?? []).equals(encodeEInvoice({ eInvoice: source, syntax: "cii" }))
    if (!isEqual) faults.push(`the PDF of valid e-invoice ${index + 1} has another XML in it`)
  }
  say(`${sources.length} hybrid PDFs: ${faults.length} with another XML than that of the API`)
  return faults
}

/** The faults of valid e-invoices, which should have none. */
const checkValid = async (folder: string, count: number, seed: number, validator: string | undefined) => {
  const sources = fc.sample(eInvoiceSources, { numRuns: count, seed })
  const findSchemaErrors = makeCiiSchemaCheck()
  const faults: Array<string> = []
  const files = sources.flatMap((source, index) =>
    writeDocuments(folder, `valid-${String(index + 1).padStart(4, "0")}`, source).map(({ file, syntax, xml }) => {
      const readTotalsOf = readTotals(xml, syntax, source.invoice.currencyCode)
      if (!isDeepStrictEqual(readTotalsOf, expectedTotals(source))) faults.push(`${file}: has other totals`)
      if (syntax === "cii") faults.push(...findSchemaErrors(xml).map((error) => `${file}: ${error}`))
      return file
    })
  )
  const reported = sources.filter((source) => findReadinessErrors(toEInvoice(source)).length > 0)
  if (reported.length > 0) faults.push(`the readiness check reports ${reported.length} valid invoices`)
  const notes = sources.filter(({ creditNote }) => creditNote !== undefined)
  say(
    `${sources.length} valid e-invoices in both syntaxes, ${notes.length} of them credit notes: ` +
      `${faults.length} faults of schema, totals and readiness`
  )
  faults.push(...(await checkHybrids(sources)))
  if (validator === undefined) return faults
  for (const [file, rules] of await validateAll(validator, files))
    if (rules.size > 0) faults.push(`${file}: does not meet ${[...rules].join(", ")}`)
  return faults
}

/** Compares the rules that the validator names with those that the readiness check names. */
const compareRules = (name: string, reported: ReadonlySet<string>, named: ReadonlySet<string>) => {
  const isExplained = (rule: string) =>
    reported.has(rule) || causes[rule]?.some((cause) => reported.has(cause)) === true
  // The validator sees another tax than VAT as a sum that does not add up, and nothing in a document that it cannot read.
  const isSeen = (rule: string) =>
    named.has(rule) || named.has("XML-CHAR") || (rule === "BR-CO-04" && named.has("BR-CO-14"))
  return [
    ...[...named].filter((rule) => !isExplained(rule)).map((rule) => `${name}: the readiness check misses ${rule}`),
    ...[...reported]
      .filter((rule) => !isSeen(rule) && !unvalidated.includes(rule))
      .map((rule) => `${name}: the validator does not name ${rule}`)
  ]
}

const checkSpoiled = async (folder: string, count: number, seed: number, validator: string | undefined) => {
  const cases = Array.from({ length: count }, (_, index) => {
    const spoiling = spoilings[index % spoilings.length]
    if (spoiling === undefined) throw new Error("there are no spoiled invoices")
    const [source] = fc.sample(spoiling.sources, { numRuns: 1, seed: seed + index })
    if (source === undefined) throw new Error(`there is no invoice with ${spoiling.name}`)
    const documents = writeDocuments(folder, `spoiled-${String(index + 1).padStart(4, "0")}`, source)
    const reported = new Set(findReadinessErrors(toEInvoice(source)).map(({ rule }) => rule))
    // Not every validator is a strict parser.
    const unreadable = documents.every(({ xml }) => isWellFormed(xml)) ? [] : ["XML-CHAR"]
    return { spoiling, reported, unreadable, files: documents.map(({ file }) => file) }
  })
  const faults = cases.flatMap(({ reported, spoiling: { name, rule } }) =>
    reported.has(rule) ? [] : [`${name}: the readiness check misses ${rule}`]
  )
  say(`${cases.length} spoiled e-invoices: ${faults.length} that the readiness check lets pass`)
  if (validator === undefined) return faults
  const broken = await validateAll(
    validator,
    cases.flatMap(({ files }) => files)
  )
  for (const { files, reported, spoiling, unreadable } of cases) {
    const named = new Set([...unreadable, ...files.flatMap((file) => [...(broken.get(file) ?? [])])])
    say(`  ${spoiling.name}: check ${[...reported].join(" ")}; validator ${[...named].join(" ") || "nothing"}`)
    faults.push(...compareRules(spoiling.name, reported, named))
  }
  return faults
}

const help = `npm run check:e-invoices                            writes random e-invoices in both syntaxes and checks them with the
                                                    official schema of CII; compares their totals with the invoices',
                                                    and the XML in their hybrid PDFs with that of the API
npm run check:e-invoices -- --count 300             so many valid ones
npm run check:e-invoices -- --spoiled 60            and so many that break a rule; without it, one of each kind
npm run check:e-invoices -- --seed 1                chooses other ones
npm run check:e-invoices -- --validator <program>   validates every file with a program of yours, and compares the rules
                                                    that it names with those of our readiness check

The program gets XML files as arguments. For each it prints "<file> (<syntax>): …", then a line
"  fatal: [BR-…]-…" for each rule that is not met, or "<file>: could not be read". It exits with 0 if all files meet EN 16931
and with 1 if one does not.`

const { values } = parseArgs({
  options: {
    help: { type: "boolean", default: false },
    count: { type: "string", default: "300" },
    spoiled: { type: "string", default: String(spoilings.length) },
    seed: { type: "string", default: "1" },
    validator: { type: "string" }
  }
})

const check = async () => {
  const seed = Number(values.seed)
  const folder = mkdtempSync(join(tmpdir(), "e-invoices-"))
  say(`XML files in ${folder}`)
  const faults = [
    ...(await checkValid(folder, Number(values.count), seed, values.validator)),
    ...(await checkSpoiled(folder, Number(values.spoiled), seed, values.validator))
  ]
  for (const fault of faults) say(`✗ ${fault}`)
  if (faults.length > 0) process.exitCode = 1
  else {
    rmSync(folder, { recursive: true, force: true })
    say("✓ All e-invoices are as they should be")
  }
}

if (values.help) say(help)
else await check()
