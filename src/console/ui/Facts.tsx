import type { ComponentChildren } from "preact"

export type Fact = readonly [label: string, value: ComponentChildren]

/** Labels with their values. What is unknown is left out. */
export const Facts = ({ facts }: { readonly facts: ReadonlyArray<Fact> }) => (
  <dl class="facts">
    {facts.map(
      ([label, value]) =>
        value !== undefined &&
        value !== false && (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{value}</dd>
          </div>
        )
    )}
  </dl>
)
