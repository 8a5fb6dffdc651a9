import { useState } from "preact/hooks"
import type { Schemas } from "../../api/client.ts"
import { Dialog } from "../../ui/forms/Dialog.tsx"
import { notify } from "../../ui/Toasts.tsx"

type WithSecret = Pick<Schemas["IntegrationWithSecret"], "secret" | "webhookUrl">

export const hasShownOnce = ({ secret, webhookUrl }: WithSecret) => secret !== undefined || webhookUrl !== undefined

interface SecretDialogProps {
  readonly issued: WithSecret
  readonly onClose: () => void
}

/** Shows what the service shows once. It is in the memory of the page until the dialog closes. */
export const SecretDialog = ({ issued: { secret, webhookUrl }, onClose }: SecretDialogProps) => {
  const [isCopied, setCopied] = useState(false)
  const text = secret ?? webhookUrl ?? ""
  const copy = async () => {
    await navigator.clipboard.writeText(text)
    setCopied(true)
  }
  return (
    <Dialog title={secret === undefined ? "Webhook address" : "Signing secret"} onClose={onClose}>
      <p>
        {secret === undefined
          ? "The tracker sends its webhooks here. The service registers it by itself after the authorization."
          : "Your receiver verifies signatures with it."}{" "}
        <strong>It is shown this once.</strong>
      </p>
      <input
        class="secret"
        readOnly
        aria-label="Secret"
        value={text}
        onFocus={({ currentTarget }) => currentTarget.select()}
      />
      <footer class="actions">
        <button
          type="button"
          onClick={() =>
            void copy().catch(() => notify("The browser does not let the page copy it", { isError: true }))
          }
        >
          {isCopied ? "Copied" : "Copy"}
        </button>
        <button type="button" class="primary" onClick={onClose}>
          I have kept it
        </button>
      </footer>
    </Dialog>
  )
}
