import { useRef, useState } from "preact/hooks"
import { changes } from "../api/query.ts"
import { notify } from "./Toasts.tsx"

type Action = () => Promise<string | undefined>

/** Runs what a button starts, one at a time, and says what came of it. Without a text there is nothing to say. */
export const useAction = () => {
  const [isRunning, setRunning] = useState(false)
  // The state of the second click of a double click is still the old one; the reference is not.
  const running = useRef(false)
  const run = async (action: Action) => {
    if (running.current) return
    running.current = true
    setRunning(true)
    try {
      const text = await action()
      if (text !== undefined) notify(text)
    } catch (cause) {
      notify(cause instanceof Error ? cause.message : String(cause), { isError: true })
    }
    running.current = false
    setRunning(false)
    changes.value++
  }
  return { isRunning, run: (action: Action) => void run(action) }
}
