/** Returns zero past the end, so parsers can check a length once instead of for every byte. */
export const byteAt = (bytes: Uint8Array, at: number) => bytes[at] ?? 0

export const uint16be = (bytes: Uint8Array, at: number) => byteAt(bytes, at) * 0x100 + byteAt(bytes, at + 1)

export const uint32be = (bytes: Uint8Array, at: number) => uint16be(bytes, at) * 0x10000 + uint16be(bytes, at + 2)

export const uint16le = (bytes: Uint8Array, at: number) => byteAt(bytes, at) + byteAt(bytes, at + 1) * 0x100

export const uint24le = (bytes: Uint8Array, at: number) => uint16le(bytes, at) + byteAt(bytes, at + 2) * 0x10000

export const uint32le = (bytes: Uint8Array, at: number) => uint16le(bytes, at) + uint16le(bytes, at + 2) * 0x10000

/** Decodes as Latin-1: one character per byte. */
export const textAt = (bytes: Uint8Array, at: number, length: number) => {
  const end = Math.min(at + length, bytes.length)
  let text = ""
  for (let index = at; index < end; index++) text += String.fromCharCode(byteAt(bytes, index))
  return text
}
