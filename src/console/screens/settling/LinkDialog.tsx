import { useState } from "preact/hooks"
import { api, done, read } from "../../api/client.ts"
import { withKey } from "../../api/idempotency.ts"
import { changes, useFreshQuery } from "../../api/query.ts"
import { hasRole } from "../../api/session.ts"
import { Dialog } from "../../ui/forms/Dialog.tsx"
import { Shown } from "../../ui/State.tsx"
import { attempt, notify } from "../../ui/Toasts.tsx"
import { Day } from "../../ui/Value.tsx"

const paramsOf = (invoiceId: string) => ({ path: { invoiceId } })

const replaceLink = (invoiceId: string) =>
  withKey(`link of ${invoiceId}`, (headers) =>
    read(api.POST("/api/v1/invoices/{invoiceId}/link/rotate", { params: paramsOf(invoiceId), headers }))
  )

const revokeLink = (invoiceId: string) =>
  done(api.DELETE("/api/v1/invoices/{invoiceId}/link", { params: paramsOf(invoiceId) }))

const Link = ({ url }: { readonly url: string }) => (
  <div class="copy">
    <input
      readOnly
      aria-label="Link for the client"
      value={url}
      onFocus={({ currentTarget }) => currentTarget.select()}
    />
    <button
      type="button"
      onClick={() => attempt(navigator.clipboard.writeText(url).then(() => notify("The link is copied")))}
    >
      Copy
    </button>
  </div>
)

/** The link to the page on which the client sees the invoice, without signing in. */
export const LinkDialog = ({ invoiceId, onClose }: { readonly invoiceId: string; readonly onClose: () => void }) => {
  const [isSending, setSending] = useState(false)
  const query = useFreshQuery(`link of ${invoiceId}`, () =>
    read(api.GET("/api/v1/invoices/{invoiceId}/link", { params: paramsOf(invoiceId) }))
  )
  const change = async (work: (invoiceId: string) => Promise<unknown>, text: string) => {
    if (isSending) return
    setSending(true)
    try {
      await work(invoiceId)
      notify(text)
    } finally {
      setSending(false)
      changes.value++
    }
  }
  return (
    <Dialog title="Page for the client" onClose={onClose}>
      <Shown query={query}>
        {({ revokedAt, url, viewedAt }) => (
          <>
            {url === undefined ? (
              <p>
                The link was revoked on <Day at={revokedAt} /> and opens nothing. Mails contain none.
              </p>
            ) : (
              <>
                <p>
                  Anyone with this link can see the invoice, its status and how to pay. Mails with the invoice contain
                  it. Once it was opened, also by you, the invoice cannot be voided.
                </p>
                <Link url={url} />
                <p class="muted">
                  {viewedAt === undefined ? "Not opened yet." : "First opened on "}
                  {viewedAt !== undefined && <Day at={viewedAt} />}
                </p>
              </>
            )}
            {hasRole("ADMIN") && (
              <footer class="actions">
                {url !== undefined && (
                  <button
                    type="button"
                    class="quiet danger"
                    onClick={() => attempt(change(revokeLink, "The link opens nothing any more"))}
                  >
                    Revoke
                  </button>
                )}
                <button type="button" onClick={() => attempt(change(replaceLink, "The link is another one now"))}>
                  Replace
                </button>
              </footer>
            )}
          </>
        )}
      </Shown>
    </Dialog>
  )
}
