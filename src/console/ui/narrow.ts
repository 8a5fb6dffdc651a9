import type { RefObject } from "preact"
import { useEffect, useState } from "preact/hooks"

/** Below this width the cells of a line do not fit beside each other. */
const minWidth = 720

/** Whether an element is too narrow for a table, on a phone or beside another column. */
export const useNarrow = (element: RefObject<HTMLElement>) => {
  const [isNarrow, setNarrow] = useState(innerWidth < minWidth)
  useEffect(() => {
    if (element.current === null) return
    const observer = new ResizeObserver(([entry]) => entry && setNarrow(entry.contentRect.width < minWidth))
    observer.observe(element.current)
    return () => observer.disconnect()
  }, [element])
  return isNarrow
}
