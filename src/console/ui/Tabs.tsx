interface TabsProps {
  readonly label: string
  readonly tabs: ReadonlyArray<readonly [href: string, label: string]>
  readonly current: string
}

/** The parts of a screen, each with an address of its own. */
export const Tabs = ({ current, label, tabs }: TabsProps) => (
  <nav class="tabs" aria-label={label}>
    {tabs.map(([href, text]) => (
      <a key={href} href={href} aria-current={href === current ? "page" : undefined}>
        {text}
      </a>
    ))}
  </nav>
)
