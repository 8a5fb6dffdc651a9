/** A4 in points. */
export const page = { width: 595.28, height: 841.89, margin: 48 } as const

/** The area inside the margins. */
export const room = {
  left: page.margin,
  right: page.width - page.margin,
  top: page.margin,
  /** Below this line only the footer is drawn. */
  bottom: page.height - page.margin - 30,
  width: page.width - 2 * page.margin
} as const

/** Horizontal padding on bands and above rules. */
export const inset = 6

export const ink = { text: "#1b1f24", faint: "#5d6670", rule: "#d5d9de", band: "#f1f3f5", mark: "#b3261e" } as const
