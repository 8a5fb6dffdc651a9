import { randomUUID } from "node:crypto"

/** Encodes a `multipart/related` body: the metadata as JSON, then the PDF. */
export const encodeMultipart = (metadata: object, pdf: Uint8Array) => {
  const boundary = randomUUID()
  const head = `--${boundary}\r\ncontent-type: application/json; charset=UTF-8\r\n\r\n${JSON.stringify(metadata)}\r\n--${boundary}\r\ncontent-type: application/pdf\r\n\r\n`
  return {
    headers: { "content-type": `multipart/related; boundary=${boundary}` },
    body: Buffer.concat([Buffer.from(head), pdf, Buffer.from(`\r\n--${boundary}--\r\n`)])
  }
}
