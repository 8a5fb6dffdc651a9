import sharp, { type Metadata, type Sharp } from "sharp"
import type { ImageType } from "../../../src/domain/branding/ImageFile.ts"
import { animated } from "./pngParts.ts"

export interface Sample {
  readonly name: string
  readonly type: ImageType
  readonly bytes: Uint8Array
  /** What its encoder's own reader must say of it, so that the sample is what its name says. */
  readonly shows: Partial<Metadata>
  /** Where that reader sees but one frame of an animation. */
  readonly frames?: number
}

/** Pixels without a pattern, the same in every run. */
const noise = (width: number, height: number, channels: 1 | 3 | 4, seed = 1) => {
  let state = seed
  const pixels = Uint8Array.from({ length: width * height * channels }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state >>> 24
  })
  return sharp(pixels, { raw: { width, height, channels } })
}

const rgb = (seed = 1) => noise(13, 9, 3, seed)
const rgba = () => noise(9, 14, 4)
const grey = () => noise(17, 5, 1)

const frames = (count: number) => Promise.all(Array.from({ length: count }, (_, seed) => rgb(seed).png().toBuffer()))

const moving = async (count: number) => sharp(await frames(count), { join: { animated: true } })

const withNote = (image: Sharp) => image.withExif({ IFD0: { ImageDescription: "a sample" } })

const bytesOf = async (image: Sharp | Promise<Sharp>): Promise<Uint8Array> =>
  Uint8Array.from(await (await image).toBuffer())

const segment = (marker: number, body: Uint8Array) =>
  Buffer.concat([Buffer.from([0xff, marker, (body.length + 2) >> 8, (body.length + 2) & 0xff]), body])

const afterStart = (jpeg: Uint8Array, inserted: Uint8Array) =>
  Buffer.concat([jpeg.subarray(0, 2), inserted, jpeg.subarray(2)])

const beforeEnd = (jpeg: Uint8Array, inserted: Uint8Array) =>
  Buffer.concat([jpeg.subarray(0, -2), inserted, jpeg.subarray(-2)])

export const plainPng = await bytesOf(rgb().png())
export const palettePng = await bytesOf(rgb().png({ palette: true, colours: 16 }))
export const greyPng = await bytesOf(grey().toColourspace("b-w").png())
export const plainJpeg = await bytesOf(rgb().jpeg())
export const plainGif = await bytesOf(rgb().gif())
export const plainWebp = await bytesOf(rgb().webp())
export const losslessWebp = await bytesOf(rgb().webp({ lossless: true }))
export const extendedWebp = await bytesOf(withNote(rgb()).webp())
export const movingWebp = await bytesOf((await moving(3)).webp())

const png = (name: string, bytes: Uint8Array, shows: Partial<Metadata> = {}): Sample => ({
  name: `a PNG ${name}`,
  type: "image/png",
  bytes,
  shows
})

const jpeg = (name: string, bytes: Uint8Array, shows: Partial<Metadata> = {}): Sample => ({
  name: `a JPEG ${name}`,
  type: "image/jpeg",
  bytes,
  shows
})

const gif = (name: string, bytes: Uint8Array, shows: Partial<Metadata> = {}): Sample => ({
  name: `a GIF ${name}`,
  type: "image/gif",
  bytes,
  shows
})

const webp = (name: string, bytes: Uint8Array, shows: Partial<Metadata> = {}): Sample => ({
  name: `a WebP ${name}`,
  type: "image/webp",
  bytes,
  shows
})

const pngs: ReadonlyArray<Sample> = [
  png("of eight bits", plainPng, { depth: "uchar", channels: 3 }),
  png("of sixteen bits", await bytesOf(rgb().toColourspace("rgb16").png()), { depth: "ushort" }),
  png("with a palette", palettePng, { isPalette: true }),
  png("of two colours", await bytesOf(rgb().png({ palette: true, colours: 2 })), { bitsPerSample: 1 }),
  png("with lines interlaced", await bytesOf(rgb().png({ progressive: true })), { isProgressive: true }),
  png("with transparency", await bytesOf(rgba().png()), { hasAlpha: true }),
  png("of grey", greyPng, { channels: 1 }),
  png("with a note", await bytesOf(withNote(rgb()).png())),
  png("of one pixel", await bytesOf(noise(1, 1, 3).png()), { width: 1, height: 1 }),
  { ...png("that moves", animated(plainPng, 3)), frames: 3 },
  { ...png("with a palette that moves", animated(palettePng, 2)), frames: 2 }
]

const jpegs: ReadonlyArray<Sample> = [
  jpeg("of one scan", plainJpeg, { isProgressive: false }),
  jpeg("of many scans", await bytesOf(rgb().jpeg({ progressive: true })), { isProgressive: true }),
  jpeg("of best quality", await bytesOf(noise(64, 64, 3).jpeg({ quality: 100, chromaSubsampling: "4:4:4" }))),
  jpeg("of grey", await bytesOf(grey().toColourspace("b-w").jpeg()), { channels: 1 }),
  jpeg("of printing inks", await bytesOf(rgb().toColourspace("cmyk").jpeg()), { space: "cmyk" }),
  jpeg("by another optimiser", await bytesOf(rgb().jpeg({ mozjpeg: true }))),
  jpeg("with a note", await bytesOf(withNote(rgb()).jpeg())),
  jpeg("with another JPEG for a preview", afterStart(plainJpeg, segment(0xe1, plainJpeg))),
  jpeg("with restarts", beforeEnd(plainJpeg, Buffer.from([0xff, 0xd0, 0x12, 0xff, 0x00, 0xff, 0xff, 0xd1, 0x34]))),
  jpeg("with filled gaps", beforeEnd(afterStart(plainJpeg, Buffer.from([0xff, 0xff])), Buffer.from([0xff])))
]

const gifs: ReadonlyArray<Sample> = [
  gif("that stands still", plainGif),
  gif("with transparency", await bytesOf(rgba().gif()), { hasAlpha: true }),
  gif("with lines interlaced", await bytesOf(rgb().gif({ progressive: true }))),
  gif("that moves", await bytesOf((await moving(4)).gif()), { pages: 4 })
]

const webps: ReadonlyArray<Sample> = [
  webp("with loss", plainWebp, { hasAlpha: false }),
  webp("without loss", losslessWebp),
  webp("with loss and transparency", await bytesOf(rgba().webp()), { hasAlpha: true }),
  webp("without loss and with transparency", await bytesOf(rgba().webp({ lossless: true })), { hasAlpha: true }),
  webp("with a note", extendedWebp),
  webp("that moves", movingWebp, { pages: 3 }),
  webp("that moves without loss", await bytesOf((await moving(4)).webp({ lossless: true })), { pages: 4 })
]

/** Small pictures by real encoders, and a few put together from the parts of such. */
export const corpus: ReadonlyArray<Sample> = [...pngs, ...jpegs, ...gifs, ...webps]

export const otherFormats: ReadonlyArray<readonly [string, Uint8Array]> = [
  ["a TIFF", await bytesOf(rgb().tiff())],
  ["an AVIF", await bytesOf(rgb().avif({ effort: 0 }))]
]
