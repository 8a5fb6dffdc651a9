import type { ComponentChildren } from "preact"
import { useId, useLayoutEffect, useRef } from "preact/hooks"

interface DialogProps {
  readonly title: string
  readonly onClose: () => void
  readonly children: ComponentChildren
  readonly isWide?: boolean
}

/** A modal dialog of the browser, which keeps the focus inside and returns it afterwards. Escape closes it. */
export const Dialog = ({ children, isWide = false, onClose, title }: DialogProps) => {
  const element = useRef<HTMLDialogElement>(null)
  const titleId = useId()
  useLayoutEffect(() => {
    const opener = document.activeElement
    element.current?.showModal()
    // The browser would choose the button that closes it.
    const field = element.current?.querySelector("input:not([type=hidden]), select, textarea")
    if (field instanceof HTMLElement) field.focus()
    // Until the dialog has left the page, nothing outside of it can have the focus.
    return () => queueMicrotask(() => opener instanceof HTMLElement && opener.focus())
  }, [])
  return (
    <dialog ref={element} class={isWide ? "wide" : ""} aria-labelledby={titleId} onClose={onClose}>
      <header>
        <h2 id={titleId}>{title}</h2>
        <button type="button" class="quiet" aria-label="Close" onClick={onClose}>
          ×
        </button>
      </header>
      {children}
    </dialog>
  )
}
