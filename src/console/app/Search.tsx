import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks"
import { useLocation } from "preact-iso/router"
import { api, load } from "../api/client.ts"
import { inTenant } from "../api/session.ts"
import { Dialog } from "../ui/forms/Dialog.tsx"
import { minSearchLength } from "../ui/lists/Filters.tsx"

interface Hit {
  readonly href: string
  readonly kind: string
  readonly label: string
}

const maxHits = 5
const typingPauseMs = 150

const findHits = async (q: string): Promise<ReadonlyArray<Hit>> => {
  const [clients, contracts, invoices, integrations] = await Promise.all([
    load(api.GET("/api/v1/clients", { params: { query: { q, sort: "name" } } })),
    load(api.GET("/api/v1/contracts", { params: { query: { q, limit: maxHits } } })),
    load(api.GET("/api/v1/invoices", { params: { query: { q, limit: maxHits, sort: "-createdAt" } } })),
    load(api.GET("/api/v1/integrations", { params: { query: { limit: 200 } } }))
  ])
  return [
    ...clients.value
      .slice(0, maxHits)
      .map(({ id, name }) => ({ kind: "Client", label: name, href: inTenant(`/clients/${id}`) })),
    ...contracts.value.map(({ id, name }) => ({ kind: "Contract", label: name, href: inTenant(`/contracts/${id}`) })),
    ...invoices.value.map(({ id, invoiceNumber }) => ({
      kind: "Invoice",
      label: invoiceNumber ?? "Draft",
      href: inTenant(`/invoices/${id}`)
    })),
    // A tenant has few of them, so the page itself searches their names.
    ...integrations.value
      .filter(({ name }) => name.toLowerCase().includes(q.toLowerCase()))
      .slice(0, maxHits)
      .map(({ id, name }) => ({ kind: "Integration", label: name, href: inTenant(`/integrations/${id}`) }))
  ]
}

const useHits = (text: string) => {
  const [hits, setHits] = useState<ReadonlyArray<Hit> | undefined>(undefined)
  useEffect(() => {
    if (text.length < minSearchLength) return setHits(undefined)
    let isCurrent = true
    const timer = setTimeout(() => {
      void findHits(text).then(
        (found) => isCurrent && setHits(found),
        () => isCurrent && setHits([])
      )
    }, typingPauseMs)
    return () => {
      isCurrent = false
      clearTimeout(timer)
    }
  }, [text])
  return hits
}

/** Finds clients, contracts, invoices and integrations by text. Arrow keys choose, Enter opens. */
export const Search = ({ onClose }: { readonly onClose: () => void }) => {
  const { route } = useLocation()
  const [text, setText] = useState("")
  const [chosen, setChosen] = useState(0)
  const input = useRef<HTMLInputElement>(null)
  const hits = useHits(text.trim())
  useLayoutEffect(() => input.current?.focus(), [])
  const open = (hit: Hit | undefined) => {
    if (hit === undefined) return
    onClose()
    route(hit.href)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0
    if (step !== 0) {
      event.preventDefault()
      setChosen(Math.min(Math.max(chosen + step, 0), (hits?.length ?? 1) - 1))
    }
    if (event.key === "Enter") open(hits?.[chosen])
  }
  return (
    <Dialog title="Search" onClose={onClose}>
      <input
        ref={input}
        type="search"
        role="combobox"
        aria-expanded={hits !== undefined}
        aria-controls="hits"
        aria-activedescendant={hits?.[chosen] === undefined ? undefined : `hit-${chosen}`}
        aria-label="Search clients, contracts, invoices and integrations"
        placeholder="Name or number"
        value={text}
        onInput={({ currentTarget }) => {
          setText(currentTarget.value)
          setChosen(0)
        }}
        onKeyDown={onKeyDown}
      />
      <div id="hits" role="listbox" aria-label="Results" class="hits">
        {hits?.map((hit, index) => (
          <a
            key={hit.href}
            id={`hit-${index}`}
            role="option"
            aria-selected={index === chosen}
            href={hit.href}
            onClick={onClose}
            tabIndex={-1}
          >
            <span>{hit.label}</span>
            <small class="muted">{hit.kind}</small>
          </a>
        ))}
      </div>
      {hits?.length === 0 && (
        <p class="muted" role="status">
          Nothing has this text in its name or number.
        </p>
      )}
    </Dialog>
  )
}
