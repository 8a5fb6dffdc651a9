import { formatElement, requiredElement, type XmlElement } from "../../../../domain/eInvoice/xml/Xml.ts"

/** A hybrid invoice of Factur-X 1.0, which is ZUGFeRD 2: a PDF/A-3 with the XML of the invoice attached. */

/** Options of PDFKit. PDF/A-3 is based on PDF 1.7, and PDFKit writes no metadata into a file of version 1.3. */
export const archiveOptions = { subset: "PDF/A-3b", pdfVersion: "1.7" } as const

const fileName = "factur-x.xml"
const namespace = "urn:factur-x:pdfa:CrossIndustryDocument:invoice:1p0#"

/** The properties of the XML that the specification asks for. The type of a credit note is INVOICE too. */
const properties = [
  { name: "DocumentType", value: "INVOICE", description: "Type of the document" },
  { name: "DocumentFileName", value: fileName, description: "Name of the embedded XML file" },
  { name: "Version", value: "1.0", description: "Version of the Factur-X specification" },
  { name: "ConformanceLevel", value: "EN 16931", description: "Factur-X profile of the XML" }
]

const textElement = (name: string, content: string, attributes = {}): XmlElement => ({ name, attributes, content })

const resource = (name: string, namespaces: Readonly<Record<string, string>>, content: ReadonlyArray<XmlElement>) =>
  requiredElement(name, content, { "rdf:about": "", ...namespaces })

const description = (prefix: string, uri: string, content: ReadonlyArray<XmlElement>) =>
  resource("rdf:Description", { [`xmlns:${prefix}`]: uri }, content)

const item = (content: ReadonlyArray<XmlElement>) => requiredElement("rdf:li", content, { "rdf:parseType": "Resource" })

/** PDF/A accepts properties of other schemas only with a description of each. */
const extensionSchema = resource(
  "rdf:Description",
  {
    "xmlns:pdfaExtension": "http://www.aiim.org/pdfa/ns/extension/",
    "xmlns:pdfaSchema": "http://www.aiim.org/pdfa/ns/schema#",
    "xmlns:pdfaProperty": "http://www.aiim.org/pdfa/ns/property#"
  },
  [
    requiredElement("pdfaExtension:schemas", [
      requiredElement("rdf:Bag", [
        item([
          textElement("pdfaSchema:schema", "Factur-X PDFA Extension Schema"),
          textElement("pdfaSchema:namespaceURI", namespace),
          textElement("pdfaSchema:prefix", "fx"),
          requiredElement("pdfaSchema:property", [
            requiredElement(
              "rdf:Seq",
              properties.map(({ description, name }) =>
                item([
                  textElement("pdfaProperty:name", name),
                  textElement("pdfaProperty:valueType", "Text"),
                  textElement("pdfaProperty:category", "external"),
                  textElement("pdfaProperty:description", description)
                ])
              )
            )
          ])
        ])
      ])
    ])
  ]
)

interface FileInfo {
  readonly title: string
  readonly author: string
  readonly date: Date
}

/** The metadata, equal to the info dictionary of the file. */
const metadataOf = ({ author, date, title }: FileInfo, { Creator = "", Producer = "" }: PDFKit.DocumentInfo) => {
  const day = date.toISOString().replace(/\.\d+Z$/, "Z")
  return [
    description("pdfaid", "http://www.aiim.org/pdfa/ns/id/", [
      textElement("pdfaid:part", "3"),
      textElement("pdfaid:conformance", "B")
    ]),
    description("dc", "http://purl.org/dc/elements/1.1/", [
      requiredElement("dc:title", [
        requiredElement("rdf:Alt", [textElement("rdf:li", title, { "xml:lang": "x-default" })])
      ]),
      requiredElement("dc:creator", [requiredElement("rdf:Seq", [textElement("rdf:li", author)])])
    ]),
    description("xmp", "http://ns.adobe.com/xap/1.0/", [
      textElement("xmp:CreatorTool", Creator),
      textElement("xmp:CreateDate", day),
      textElement("xmp:ModifyDate", day)
    ]),
    description("pdf", "http://ns.adobe.com/pdf/1.3/", [textElement("pdf:Producer", Producer)]),
    extensionSchema,
    description(
      "fx",
      namespace,
      properties.map(({ name, value }) => textElement(`fx:${name}`, value))
    )
  ]
}

/** Attaches the XML to a file that was opened with `archiveOptions`. */
export const attachEInvoice = (pdf: PDFKit.PDFDocument, xml: Uint8Array, info: FileInfo) => {
  const options = {
    name: fileName,
    type: "text/xml",
    description: "Factur-X invoice",
    // The types of PDFKit lack this one. The profile EN 16931 has all that the pages show, so it is no mere Data.
    relationship: "Alternative",
    creationDate: info.date,
    modifiedDate: info.date
  }
  pdf.file(Buffer.from(xml), options)
  for (const part of metadataOf(info, pdf.info)) pdf.appendXML(formatElement(part))
  // PDFKit would append the same properties without escaping them.
  pdf.appendXML = () => {}
}
