import type { ComponentChildren } from "preact"

/** A part that may be wider than the window. It scrolls by itself, with the keyboard too. */
export const ScrollX = ({ children, label }: { readonly label: string; readonly children: ComponentChildren }) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable with the keyboard
  <section class="scroll-x" aria-label={label} tabIndex={0}>
    {children}
  </section>
)
