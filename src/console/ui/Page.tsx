import type { ComponentChildren } from "preact"

interface PageProps {
  readonly title: ComponentChildren
  /** The way back up, as address and label. */
  readonly parent?: readonly [href: string, label: string]
  readonly actions?: ComponentChildren
  readonly children: ComponentChildren
}

/** A screen: where one is, what it is, what one can do, and its content. */
export const Page = ({ actions, children, parent, title }: PageProps) => (
  <>
    <div class="page-head">
      <div>
        {parent !== undefined && (
          <a class="back" href={parent[0]}>
            ← {parent[1]}
          </a>
        )}
        <h1>{title}</h1>
      </div>
      {actions !== undefined && <div class="actions">{actions}</div>}
    </div>
    {children}
  </>
)

interface SectionProps {
  readonly title: string
  readonly action?: ComponentChildren
  readonly children: ComponentChildren
}

/** A part of a screen. */
export const Section = ({ action, children, title }: SectionProps) => (
  <section class="card" aria-label={title}>
    <div class="section-head">
      <h2>{title}</h2>
      {action}
    </div>
    {children}
  </section>
)
