import type { ComponentChildren } from "preact"
import { useEffect, useState } from "preact/hooks"
import { useLocation } from "preact-iso/router"
import { inTenant, member, tenant, tenantId, tenants } from "../api/session.ts"
import { useCurrentInView } from "../ui/currentInView.ts"
import { formatStatus } from "../ui/format.ts"
import { places } from "./places.ts"
import { Search } from "./Search.tsx"
import { Shortcuts } from "./Shortcuts.tsx"

const isTyping = ({ target }: KeyboardEvent) =>
  target instanceof HTMLElement && (target.matches("input, textarea, select") || target.closest("dialog") !== null)

const focusSearchOfPage = () => {
  const field = document.querySelector("main input[type=search]")
  if (field instanceof HTMLInputElement) field.focus()
  return field !== null
}

type Panel = "search" | "shortcuts" | undefined

/** Keys that work everywhere: Ctrl+K searches, `/` filters the list, `g` and a letter opens a screen, `?` lists them. */
const useShortcuts = (open: (panel: Panel) => void) => {
  const { route } = useLocation()
  useEffect(() => {
    let isGoing = false
    const onKey = (event: KeyboardEvent) => {
      if ((event.ctrlKey || event.metaKey) && event.key === "k") {
        event.preventDefault()
        return open("search")
      }
      if (isTyping(event) || event.ctrlKey || event.metaKey || event.altKey) return
      const place = isGoing ? places.find(({ key }) => key === event.key) : undefined
      isGoing = event.key === "g"
      if (place !== undefined) return route(inTenant(place.path))
      if (event.key === "/" && focusSearchOfPage()) event.preventDefault()
      if (event.key === "?") open("shortcuts")
    }
    addEventListener("keydown", onKey)
    return () => removeEventListener("keydown", onKey)
  }, [open, route])
}

const TenantChoice = () => {
  const { route } = useLocation()
  if (tenants.value.length < 2) return <strong class="tenant">{tenant.value?.name}</strong>
  return (
    <select
      class="tenant"
      aria-label="Business"
      value={tenantId.value}
      onChange={({ currentTarget }) => route(`/console/${currentTarget.value}`)}
    >
      {tenants.value.map(({ id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </select>
  )
}

/** The frame around every screen. */
export const Shell = ({ children }: { readonly children: ComponentChildren }) => {
  const { path } = useLocation()
  const [panel, setPanel] = useState<Panel>(undefined)
  useShortcuts(setPanel)
  const nav = useCurrentInView<HTMLElement>(path)
  const isCurrent = (place: string) =>
    place === "" ? path === inTenant("") : path === inTenant(place) || path.startsWith(`${inTenant(place)}/`)
  return (
    <div class="shell">
      <a class="skip" href="#content">
        Skip to content
      </a>
      <header class="top">
        <TenantChoice />
        <button type="button" class="search-button" onClick={() => setPanel("search")}>
          <span>Search</span>
          <kbd>Ctrl K</kbd>
        </button>
        {member.value !== undefined && (
          <span class="person muted" title={`Signed in as ${member.value.subject}`}>
            {member.value.subject} · {formatStatus(member.value.role)}
          </span>
        )}
      </header>
      <nav ref={nav} aria-label="Main">
        {places.map(({ icon, label, path: place }) => (
          <a key={place} href={inTenant(place)} aria-current={isCurrent(place) ? "page" : undefined}>
            <svg viewBox="0 0 24 24" aria-hidden="true">
              <path d={icon} />
            </svg>
            <span>{label}</span>
          </a>
        ))}
        <button type="button" class="quiet help" onClick={() => setPanel("shortcuts")}>
          Keyboard
        </button>
      </nav>
      <main id="content">{children}</main>
      {panel === "search" && <Search onClose={() => setPanel(undefined)} />}
      {panel === "shortcuts" && <Shortcuts onClose={() => setPanel(undefined)} />}
    </div>
  )
}
