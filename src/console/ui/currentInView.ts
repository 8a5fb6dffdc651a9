import { useEffect, useRef } from "preact/hooks"

/** Keeps the link to the current page in view, in a list of links that is wider than the window. */
export const useCurrentInView = <A extends HTMLElement>(current: string) => {
  const list = useRef<A>(null)
  useEffect(() => {
    list.current?.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" })
  }, [current])
  return list
}
