import type { ComponentChildren } from "preact"
import { useEffect, useRef, useState } from "preact/hooks"

interface VirtualListProps<A> {
  readonly items: ReadonlyArray<A>
  /** In pixels. All rows have the same height, which the style sheet sets too. */
  readonly rowHeight: number
  readonly label: string
  readonly keyOf: (item: A) => string
  readonly row: (item: A, index: number) => ComponentChildren
  /** Called when somebody scrolls near the end. */
  readonly onEnd?: (() => void) | undefined
  /** Called with whether somebody has scrolled away from the first row. */
  readonly onScrolled?: ((isAway: boolean) => void) | undefined
  /** The row to keep in view, such as the one with the focus. */
  readonly focused?: number | undefined
}

/** Rows above and below the visible ones, so that fast scrolling shows no gaps. */
const overscan = 8

/** The rows to render. They change after every eighth row, not with every pixel. */
const rowsIn = (top: number, height: number, rowHeight: number) => ({
  first: (Math.floor(top / rowHeight / overscan) - 1) * overscan,
  last: (Math.ceil((top + height) / rowHeight / overscan) + 1) * overscan
})

/** A list that renders only the rows in view, so that ten thousand rows cost what thirty do. */
export const VirtualList = <A,>({
  focused,
  items,
  keyOf,
  label,
  onEnd,
  onScrolled,
  row,
  rowHeight
}: VirtualListProps<A>) => {
  const element = useRef<HTMLElement>(null)
  const [view, setView] = useState(() => rowsIn(0, 800, rowHeight))
  const measure = () => {
    const { clientHeight = 800, scrollTop = 0 } = element.current ?? {}
    onScrolled?.(scrollTop > 0)
    const next = rowsIn(scrollTop, clientHeight, rowHeight)
    setView((current) => (current.first === next.first && current.last === next.last ? current : next))
    if (scrollTop + clientHeight > items.length * rowHeight - 10 * rowHeight) onEnd?.()
  }
  useEffect(() => {
    measure()
    addEventListener("resize", measure)
    return () => removeEventListener("resize", measure)
  }, [items.length, rowHeight])
  useEffect(() => {
    const list = element.current
    if (focused === undefined || list === null) return
    const top = focused * rowHeight
    if (top < list.scrollTop) list.scrollTop = top
    else if (top + rowHeight > list.scrollTop + list.clientHeight) list.scrollTop = top + rowHeight - list.clientHeight
  }, [focused, rowHeight])
  const first = Math.max(view.first, 0)
  const last = Math.min(view.last, items.length)
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable with the keyboard
    <section ref={element} class="virtual" aria-label={label} tabIndex={0} onScroll={measure}>
      <div class="virtual-space" style={{ height: `${items.length * rowHeight}px` }}>
        <ul class="virtual-rows" style={{ transform: `translateY(${first * rowHeight}px)` }}>
          {items.slice(first, last).map((item, index) => (
            <li key={keyOf(item)} aria-setsize={items.length} aria-posinset={first + index + 1}>
              {row(item, first + index)}
            </li>
          ))}
        </ul>
      </div>
    </section>
  )
}
