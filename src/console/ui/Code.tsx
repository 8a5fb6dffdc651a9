/** JSON in lines, and any other text as it is. */
const inLines = (text: string) => {
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2)
  } catch {
    return text
  }
}

/** A text of a machine, shown as text. A long one scrolls by itself, with the keyboard too. */
export const Code = ({ label, text }: { readonly label: string; readonly text: string }) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable with the keyboard
  <section class="code" aria-label={label} tabIndex={0}>
    <pre>{inLines(text)}</pre>
  </section>
)
