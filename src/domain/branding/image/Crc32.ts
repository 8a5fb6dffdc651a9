import { byteAt } from "./Bytes.ts"

const polynomial = 0xedb88320

const table = Int32Array.from({ length: 256 }, (_, byte) => {
  let remainder = byte
  for (let bit = 0; bit < 8; bit++) remainder = (remainder >>> 1) ^ (remainder & 1 ? polynomial : 0)
  return remainder
})

/** The CRC-32 of PNG and zlib over the bytes from `start` up to, but not including, `end`. */
export const crc32 = (bytes: Uint8Array, start: number, end: number) => {
  let crc = -1
  for (let at = start; at < end; at++) crc = (crc >>> 8) ^ (table[(crc ^ byteAt(bytes, at)) & 0xff] ?? 0)
  return ~crc >>> 0
}
