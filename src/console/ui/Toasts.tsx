import { signal } from "@preact/signals"
import { messageOf } from "../api/client.ts"

interface Toast {
  readonly id: number
  readonly text: string
  readonly isError: boolean
}

const toasts = signal<ReadonlyArray<Toast>>([])
let lastId = 0

const shownMs = 6000

/** Says what has happened, to eyes and to screen readers. Errors stay until they are closed. */
export const notify = (text: string, { isError = false } = {}) => {
  const id = ++lastId
  toasts.value = [...toasts.value, { id, text, isError }]
  if (!isError) setTimeout(() => close(id), shownMs)
}

/** Does what a button is for. Says so if the service refuses it. */
export const attempt = (work: Promise<unknown>) =>
  void work.catch((cause: unknown) => notify(messageOf(cause), { isError: true }))

const close = (id: number) => {
  toasts.value = toasts.value.filter((toast) => toast.id !== id)
}

export const Toasts = () => (
  <div class="toasts" role="status" aria-live="polite">
    {toasts.value.map(({ id, isError, text }) => (
      <div key={id} class={isError ? "toast bad" : "toast"}>
        <span>{text}</span>
        <button type="button" class="quiet" aria-label="Dismiss" onClick={() => close(id)}>
          ×
        </button>
      </div>
    ))}
  </div>
)
