import sharp from "sharp"
import type { ImageRole, InvoiceImages } from "../../../../domain/invoicing/document/InvoiceDocument.ts"

/** Images as PNG, scaled down to the size on the page. */
export type DrawableImages = Partial<Record<ImageRole, Buffer>>

/** Maximum width and height in pixels: about 200 dpi on the page. */
const maxSizes: Readonly<Record<ImageRole, readonly [number, number]>> = {
  "tenant-logo": [720, 180],
  "client-logo": [280, 140],
  "tenant-background": [1240, 1754],
  "client-background": [1240, 1754]
}

/** Converts the first frame to a PNG and applies its EXIF orientation. Returns undefined for a corrupted image. */
const toPng = (bytes: Uint8Array, [width, height]: readonly [number, number]) =>
  sharp(bytes, { failOn: "error", limitInputPixels: 40_000_000 })
    .rotate()
    .resize({ width, height, fit: "inside", withoutEnlargement: true })
    .png({ compressionLevel: 9 })
    .toBuffer()
    .catch(() => undefined)

export const prepareImages = async (images: InvoiceImages): Promise<DrawableImages> => {
  const prepared: DrawableImages = {}
  for (const [role, size] of Object.entries(maxSizes) as Array<[ImageRole, readonly [number, number]]>) {
    const bytes = images[role]
    const image = bytes === undefined ? undefined : await toPng(bytes, size)
    if (image !== undefined) prepared[role] = image
  }
  return prepared
}
