import { XmlDocument, XmlElement } from "libxml2-wasm"
import {
  decodePDFRawStream,
  PDFArray,
  PDFDict,
  PDFDocument,
  PDFHexString,
  PDFName,
  PDFRawStream,
  PDFString
} from "pdf-lib"

const bytesOf = (stream: PDFRawStream) => decodePDFRawStream(stream).decode()

const nameOf = (dictionary: PDFDict, key: string) => dictionary.lookupMaybe(PDFName.of(key), PDFName)?.decodeText()

const textOf = (dictionary: PDFDict, key: string) =>
  dictionary.lookupMaybe(PDFName.of(key), PDFString, PDFHexString)?.decodeText()

const streamOf = (dictionary: PDFDict, key: string) => {
  const stream = dictionary.lookup(PDFName.of(key))
  return stream instanceof PDFRawStream ? stream : undefined
}

const dictionariesIn = (array: PDFArray | undefined) =>
  Array.from({ length: array?.size() ?? 0 }, (_, index) => array?.lookup(index, PDFDict)).filter(
    (item) => item !== undefined
  )

const readAttachment = (specification: PDFDict) => {
  const file = specification.lookup(PDFName.of("EF"), PDFDict)
  const stream = streamOf(file, "F")
  if (stream === undefined) throw new Error("The attachment has no file")
  const parameters = stream.dict.lookup(PDFName.of("Params"), PDFDict)
  return {
    names: [textOf(specification, "F"), textOf(specification, "UF")],
    relationship: nameOf(specification, "AFRelationship"),
    type: nameOf(stream.dict, "Type"),
    subtype: nameOf(stream.dict, "Subtype"),
    size: parameters.get(PDFName.of("Size"))?.toString(),
    modifiedAt: textOf(parameters, "ModDate"),
    bytes: bytesOf(stream)
  }
}

const readIntent = (intent: PDFDict) => {
  const profile = streamOf(intent, "DestOutputProfile")
  return {
    type: nameOf(intent, "S"),
    condition: textOf(intent, "OutputConditionIdentifier"),
    components: profile?.dict.get(PDFName.of("N"))?.toString(),
    // The signature of an ICC profile.
    signature: profile && Buffer.from(bytesOf(profile)).toString("latin1", 36, 40)
  }
}

/** The values of the metadata by the names of their elements. Lists have one item here. */
const readMetadata = (xml: string): Readonly<Record<string, string>> => {
  const document = XmlDocument.fromString(xml)
  try {
    const leaves = document.find("//*[not(*)]").map((leaf) => {
      const owner = leaf.get("ancestor-or-self::*[not(starts-with(name(), 'rdf:'))][1]")
      return [owner instanceof XmlElement ? `${owner.prefix}:${owner.name}` : "", leaf.content] as const
    })
    return Object.fromEntries(leaves)
  } finally {
    document.dispose()
  }
}

const simpleFonts: ReadonlyArray<string | undefined> = ["Type1", "MMType1", "TrueType", "Type3"]

/** What another library finds in a PDF of what PDF/A-3 and Factur-X ask for. */
export const readHybrid = async (file: Uint8Array) => {
  const pdf = await PDFDocument.load(file, { updateMetadata: false })
  const { catalog, context } = pdf
  const objects = context.enumerateIndirectObjects().map(([, object]) => object)
  const dictionaries = objects.flatMap((object) =>
    object instanceof PDFDict ? [object] : object instanceof PDFRawStream ? [object.dict] : []
  )
  const ids = context.trailerInfo.ID instanceof PDFArray ? context.trailerInfo.ID.asArray() : []
  const metadata = streamOf(catalog, "Metadata")
  const listed = catalog
    .lookup(PDFName.of("Names"), PDFDict)
    .lookupMaybe(PDFName.of("EmbeddedFiles"), PDFDict)
    ?.lookup(PDFName.of("Names"), PDFArray)
  return {
    header: Buffer.from(file.subarray(0, 8)).toString("latin1"),
    language: textOf(catalog, "Lang"),
    attachments: dictionariesIn(catalog.lookupMaybe(PDFName.of("AF"), PDFArray)).map(readAttachment),
    /** Viewers list the attachments that have a name. */
    listedNames: listed === undefined ? [] : [listed.lookup(0, PDFString, PDFHexString).decodeText()],
    intents: dictionariesIn(catalog.lookupMaybe(PDFName.of("OutputIntents"), PDFArray)).map(readIntent),
    metadata: metadata === undefined ? {} : readMetadata(new TextDecoder().decode(bytesOf(metadata))),
    xmp: metadata === undefined ? "" : new TextDecoder().decode(bytesOf(metadata)),
    info: { title: pdf.getTitle(), author: pdf.getAuthor(), creator: pdf.getCreator(), producer: pdf.getProducer() },
    dates: [pdf.getCreationDate(), pdf.getModificationDate()],
    idLengths: ids.map((id) => (id instanceof PDFHexString ? id.asBytes().length : 0)),
    /** Whether each font has its file. */
    fontFiles: dictionaries
      .filter((dictionary) => nameOf(dictionary, "Type") === "FontDescriptor")
      .map((descriptor) => streamOf(descriptor, "FontFile2") !== undefined),
    /** Fonts that can lack a descriptor. */
    otherFonts: dictionaries.filter((dictionary) => simpleFonts.includes(nameOf(dictionary, "Subtype"))).length,
    softMasks: dictionaries.filter((dictionary) => dictionary.has(PDFName.of("SMask"))).length
  }
}
