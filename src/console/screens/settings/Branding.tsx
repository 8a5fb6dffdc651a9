import { useId, useRef, useState } from "preact/hooks"
import { api, type Loaded, messageOf, read, sendFile } from "../../api/client.ts"
import { withKey } from "../../api/idempotency.ts"
import { changes, useQuery } from "../../api/query.ts"
import { hasRole } from "../../api/session.ts"
import { Section } from "../../ui/Page.tsx"
import { PdfPreview } from "../../ui/PdfPreview.tsx"
import { Empty, Shown } from "../../ui/State.tsx"
import { attempt, notify } from "../../ui/Toasts.tsx"
import { saveImage, type Tenant, useTenant } from "./tenantSettings.ts"

const contentTypes = ["image/png", "image/jpeg", "image/webp", "image/gif"] as const

const places = [
  { slot: "logo", kind: "BRANDING_LOGO", label: "Logo", about: "At the head of invoices and of their pages." },
  { slot: "background", kind: "BRANDING_BACKGROUND", label: "Background", about: "Behind the text of invoices." }
] as const

type Place = (typeof places)[number]

/** Declares an image, sends its bytes and has them verified. */
const upload = async (file: File, { kind }: Place) => {
  const contentType = contentTypes.find((type) => type === file.type)
  if (contentType === undefined) throw new Error("The file must be a PNG, JPEG, WebP or GIF image")
  const body = { kind, contentType, originalFileName: file.name }
  const { assetId } = await withKey(`image ${kind}`, (headers) => read(api.POST("/api/v1/assets", { body, headers })))
  await sendFile(`/api/v1/assets/${assetId}/content`, file)
  await withKey(`complete ${assetId}`, (headers) =>
    read(api.POST("/api/v1/assets/{assetId}/complete", { params: { path: { assetId } }, headers }))
  )
  return assetId
}

interface ImageProps {
  readonly loaded: Loaded<Tenant>
  readonly place: Place
}

const ImageInput = ({ loaded, place }: ImageProps) => {
  const id = useId()
  const [state, setState] = useState<{ readonly isSending: boolean; readonly error?: string }>({ isSending: false })
  const sending = useRef(false)
  const send = async (file: File) => {
    if (sending.current) return
    sending.current = true
    setState({ isSending: true })
    try {
      const saved = await saveImage(loaded, place.slot, await upload(file, place))
      if (saved !== undefined) notify(`The ${place.label.toLowerCase()} is saved`)
      setState({ isSending: false })
    } catch (cause) {
      setState({ isSending: false, error: messageOf(cause) })
    }
    sending.current = false
    changes.value++
  }
  return (
    <div class="field">
      <label for={id}>{state.isSending ? "Uploading…" : "Choose an image"}</label>
      <input
        id={id}
        type="file"
        accept={contentTypes.join()}
        aria-invalid={state.error !== undefined}
        aria-describedby={`${id}-about`}
        onChange={({ currentTarget }) => {
          const [file] = currentTarget.files ?? []
          // Choosing the same file once more is another try.
          currentTarget.value = ""
          if (file !== undefined) void send(file)
        }}
      />
      <small id={`${id}-about`} class={state.error === undefined ? "muted" : "error"}>
        {state.error ?? "PNG, JPEG, WebP or GIF, at most 5 MB."}
      </small>
    </div>
  )
}

const ImageCard = ({ loaded, place }: ImageProps) => {
  const current = loaded.value.media.find(({ slot }) => slot === place.slot)
  const canWrite = hasRole("ADMIN")
  const remove = async () => {
    await saveImage(loaded, place.slot, undefined)
    changes.value++
  }
  return (
    <Section
      title={place.label}
      action={
        canWrite &&
        current !== undefined && (
          <button
            type="button"
            class="quiet danger"
            aria-label={`Remove ${place.label.toLowerCase()}`}
            onClick={() => attempt(remove())}
          >
            Remove
          </button>
        )
      }
    >
      <p class="muted">{place.about}</p>
      <figure class="image">
        {current === undefined ? (
          <figcaption class="muted">None yet</figcaption>
        ) : (
          <img src={current.url} alt={`${place.label} of ${loaded.value.name}`} />
        )}
      </figure>
      {canWrite && <ImageInput loaded={loaded} place={place} />}
    </Section>
  )
}

const Preview = ({ media }: Pick<Tenant, "media">) => {
  const query = useQuery("latest draft", () =>
    read(api.GET("/api/v1/invoices", { params: { query: { status: "DRAFT", limit: 1, sort: "-createdAt" } } }))
  )
  return (
    <Shown query={query}>
      {([draft]) =>
        draft === undefined ? (
          <Section title="Preview">
            <Empty title="No draft to show it on">The latest draft of an invoice is the preview.</Empty>
          </Section>
        ) : (
          <PdfPreview path={`/api/v1/invoices/${draft.id}/pdf`} name="Draft" version={JSON.stringify(media)} />
        )
      }
    </Shown>
  )
}

/** The images on invoices, and how an invoice looks with them. */
export const Branding = () => (
  <Shown query={useTenant()}>
    {(loaded) => (
      <div class="columns even">
        <div>
          {places.map((place) => (
            <ImageCard key={place.slot} loaded={loaded} place={place} />
          ))}
        </div>
        <Preview media={loaded.value.media} />
      </div>
    )}
  </Shown>
)
