/** A4 in points. */
export const a4Page = { width: 595.28, height: 841.89, margin: 48 } as const

/** The area inside the margins. */
export const contentArea = {
  left: a4Page.margin,
  right: a4Page.width - a4Page.margin,
  top: a4Page.margin,
  /** Below this line only the footer is drawn. */
  bottom: a4Page.height - a4Page.margin - 30,
  width: a4Page.width - 2 * a4Page.margin
} as const

/** Horizontal padding on bands and above rules. */
export const inset = 6

export const pageColors = {
  text: "#1b1f24",
  faint: "#5d6670",
  rule: "#d5d9de",
  band: "#f1f3f5",
  watermark: "#b3261e"
} as const
