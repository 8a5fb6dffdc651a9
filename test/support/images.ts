import { randomBytes } from "node:crypto"
import { crc32, deflateSync } from "node:zlib"

const chunk = (type: string, body: Uint8Array) => {
  const named = Buffer.concat([Buffer.from(type, "latin1"), body])
  const framed = Buffer.alloc(named.length + 8)
  framed.writeUInt32BE(body.length)
  named.copy(framed, 4)
  framed.writeUInt32BE(crc32(named), framed.length - 4)
  return framed
}

const header = (width: number, height: number) => {
  const body = Buffer.alloc(13)
  body.writeUInt32BE(width)
  body.writeUInt32BE(height, 4)
  // Eight bits for each of red, green and blue.
  body.set([8, 2], 8)
  return chunk("IHDR", body)
}

const start = Buffer.from("\x89PNG\r\n\x1a\n", "latin1")
const end = chunk("IEND", Buffer.alloc(0))

interface Measures {
  readonly width?: number
  readonly height?: number
  /** Of the whole file. */
  readonly bytes?: number
  /** What fills it, in the place of random bytes. */
  readonly hidden?: Uint8Array
}

/** A picture like no other: what fills it up to its length is random, in a chunk that every decoder passes over. */
export const png = ({ bytes, height = 2, hidden, width = 3 }: Measures = {}) => {
  const rows = deflateSync(Buffer.alloc(height * (1 + 3 * width), 0x40))
  const parts = [start, header(width, height), chunk("IDAT", rows)]
  const framing = Buffer.concat([...parts, end]).length + 12
  const filling = chunk("teSt", hidden ?? randomBytes(bytes === undefined ? 16 : bytes - framing))
  return Buffer.concat([...parts, filling, end])
}

/** A picture like no other around a filling that many can share, in parts that are its file when put together. */
export const pngAround = (filling: Uint8Array): ReadonlyArray<Buffer> => {
  const named = Buffer.concat([Buffer.from("teSt", "latin1"), randomBytes(16)])
  const length = Buffer.alloc(4)
  length.writeUInt32BE(16 + filling.length)
  const sum = Buffer.alloc(4)
  sum.writeUInt32BE(crc32(filling, crc32(named)))
  const pixel = chunk("IDAT", deflateSync(Buffer.alloc(4)))
  return [
    Buffer.concat([start, header(1, 1), pixel, length, named]),
    Buffer.from(filling.buffer),
    Buffer.concat([sum, end])
  ]
}

/** One transparent pixel. */
export const gif = Buffer.from("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7", "base64")

export const svgWithScript = Buffer.from(
  `<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><script>document.title = "ran"</script></svg>`
)

export const htmlWithScript = Buffer.from(`<!doctype html><script>document.title = "ran"</script>`)
