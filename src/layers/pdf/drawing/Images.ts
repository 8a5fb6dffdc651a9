import sharp from "sharp"
import type { ImageRole, InvoiceImages } from "../../../domain/invoicing/InvoiceDocument.ts"

/** Images in a form that can be drawn, each no larger than it is ever seen. */
export type DrawableImages = Partial<Record<ImageRole, Buffer>>

/** The most pixels either way: about 200 to the inch where they are drawn. */
const sizes: Readonly<Record<ImageRole, readonly [number, number]>> = {
  "tenant-logo": [720, 180],
  "client-logo": [280, 140],
  "tenant-background": [1240, 1754],
  "client-background": [1240, 1754]
}

/** The first frame, upright, as a PNG; nothing of an image whose pixels turn out to be damaged. */
const drawable = (bytes: Uint8Array, [width, height]: readonly [number, number]) =>
  sharp(bytes, { failOn: "error", limitInputPixels: 40_000_000 })
    .rotate()
    .resize({ width, height, fit: "inside", withoutEnlargement: true })
    .png({ compressionLevel: 9 })
    .toBuffer()
    .catch(() => undefined)

export const drawableImages = async (images: InvoiceImages): Promise<DrawableImages> => {
  const drawn: DrawableImages = {}
  for (const [role, size] of Object.entries(sizes) as Array<[ImageRole, readonly [number, number]]>) {
    const bytes = images[role]
    const image = bytes === undefined ? undefined : await drawable(bytes, size)
    if (image !== undefined) drawn[role] = image
  }
  return drawn
}
