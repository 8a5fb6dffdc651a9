const looksLikeMarkup = (start: string) => /^(\xef\xbb\xbf)?\s*</.test(start)

const isText = (start: string) => /^[\t\n\r\x20-\x7e\x80-\xf4]+$/.test(start)

/** Guesses the type of an unsupported file from its first bytes. Only error messages use the guess. */
export const sniffFileType = (bytes: Buffer): string | undefined => {
  const start = bytes.toString("latin1", 0, 512)
  if (start.startsWith("%PDF-")) return "a PDF"
  if (start.startsWith("BM") && !isText(start)) return "a BMP"
  if (start.startsWith("II*\0") || start.startsWith("MM\0*")) return "a TIFF"
  if (/^ftypavi[fs]/.test(start.slice(4))) return "an AVIF"
  if (/^ftyp(hei|hev|mif1|msf1)/.test(start.slice(4))) return "a HEIC"
  if (looksLikeMarkup(start)) return /<svg[\s>]/i.test(start) ? "an SVG" : "an HTML or XML document"
  return isText(start) ? "text" : undefined
}
