/** Bytes past the end read as zero, so that whoever reads checks lengths once rather than every byte. */
export const byteAt = (bytes: Uint8Array, at: number) => bytes[at] ?? 0

export const uint16be = (bytes: Uint8Array, at: number) => byteAt(bytes, at) * 0x100 + byteAt(bytes, at + 1)

export const uint32be = (bytes: Uint8Array, at: number) => uint16be(bytes, at) * 0x10000 + uint16be(bytes, at + 2)

export const uint16le = (bytes: Uint8Array, at: number) => byteAt(bytes, at) + byteAt(bytes, at + 1) * 0x100

export const uint24le = (bytes: Uint8Array, at: number) => uint16le(bytes, at) + byteAt(bytes, at + 2) * 0x10000

export const uint32le = (bytes: Uint8Array, at: number) => uint16le(bytes, at) + uint16le(bytes, at + 2) * 0x10000

/** One character for each byte, whatever it is. */
export const textAt = (bytes: Uint8Array, at: number, length: number) => {
  const end = Math.min(at + length, bytes.length)
  let text = ""
  for (let place = at; place < end; place++) text += String.fromCharCode(byteAt(bytes, place))
  return text
}
