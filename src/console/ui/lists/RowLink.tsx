import type { ComponentChildren } from "preact"

interface RowLinkProps {
  readonly href: string
  readonly title: ComponentChildren
  /** A second line below the title. */
  readonly about?: ComponentChildren
  /** What wide windows show between the title and the side. */
  readonly columns?: ReadonlyArray<ComponentChildren>
  readonly side: ComponentChildren
  readonly isInline?: boolean
}

/** A row of a list that opens what it is about. */
export const RowLink = ({ about, columns = [], href, isInline = false, side, title }: RowLinkProps) => (
  <a class="row" href={href}>
    <span class="row-main">
      <strong>{title}</strong>
      {about !== undefined && <span class="muted">{about}</span>}
    </span>
    {columns.map((column, index) => (
      <span key={index} class="muted wide-only">
        {column}
      </span>
    ))}
    <span class={isInline ? "row-side inline" : "row-side"}>{side}</span>
  </a>
)
