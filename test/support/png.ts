import { randomBytes } from "node:crypto"
import { crc32 } from "../../src/domain/branding/image/Crc32.ts"
import { pngSignature } from "../../src/domain/branding/image/Png.ts"

const chunk = (type: string, body: Uint8Array) => {
  const bytes = Buffer.concat([Buffer.alloc(4), Buffer.from(type, "latin1"), body, Buffer.alloc(4)])
  bytes.writeUInt32BE(body.length, 0)
  bytes.writeUInt32BE(crc32(bytes, 4, bytes.length - 4), bytes.length - 4)
  return bytes
}

/** A PNG like no other, with so many bytes of data that nobody decodes. */
export const randomPng = (dataBytes: number) => {
  const header = Buffer.from([0, 0, 0, 9, 0, 0, 0, 9, 8, 6, 0, 0, 0])
  return Buffer.concat([
    Buffer.from(pngSignature, "latin1"),
    chunk("IHDR", header),
    chunk("IDAT", randomBytes(dataBytes)),
    chunk("IEND", Buffer.alloc(0))
  ])
}
