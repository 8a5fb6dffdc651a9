import { useEffect } from "preact/hooks"
import lazy from "preact-iso/lazy"
import { LocationProvider, Route, Router, useLocation } from "preact-iso/router"
import { api, read } from "../api/client.ts"
import { clearLookups } from "../api/lookups.ts"
import { clearCache } from "../api/query.ts"
import { member, tenantId, tenants } from "../api/session.ts"
import { Home } from "../screens/home/Home.tsx"
import { ConflictDialog } from "../ui/forms/ConflictDialog.tsx"
import { Empty, Loading } from "../ui/State.tsx"
import { Toasts } from "../ui/Toasts.tsx"
import { FirstTenant } from "./FirstTenant.tsx"
import { Shell } from "./Shell.tsx"
import { SignInPage } from "./SignInPage.tsx"
import { signInState } from "./signIn.ts"

const loadLater = () => import("./laterScreens.ts")

const Clients = lazy(() => loadLater().then(({ Clients }) => Clients))
const Client = lazy(() => loadLater().then(({ Client }) => Client))
const Contracts = lazy(() => loadLater().then(({ Contracts }) => Contracts))
const Contract = lazy(() => loadLater().then(({ Contract }) => Contract))
const Invoices = lazy(() => loadLater().then(({ Invoices }) => Invoices))
const Invoice = lazy(() => loadLater().then(({ Invoice }) => Invoice))
const Payments = lazy(() => loadLater().then(({ Payments }) => Payments))
const Payment = lazy(() => loadLater().then(({ Payment }) => Payment))
const CreditNotes = lazy(() => loadLater().then(({ CreditNotes }) => CreditNotes))
const CreditNote = lazy(() => loadLater().then(({ CreditNote }) => CreditNote))
const Integrations = lazy(() => loadLater().then(({ Integrations }) => Integrations))
const Integration = lazy(() => loadLater().then(({ Integration }) => Integration))
const Events = lazy(() => loadLater().then(({ Events }) => Events))
const Settings = lazy(() => loadLater().then(({ Settings }) => Settings))

const NotFound = () => <Empty title="There is no such page" />

/** Reads the role of the person in the tenant that the address names. */
const enterTenant = (id: string) => {
  if (tenantId.peek() === id) return
  clearCache()
  clearLookups()
  member.value = undefined
  tenantId.value = id
  void read(api.GET("/api/v1/me")).then((found) => {
    member.value = found
  })
}

/** Moves the focus to the heading of a new page, so that screen readers announce it. */
const announcePage = () => {
  const heading = document.querySelector("main h1")
  if (heading instanceof HTMLElement) {
    heading.tabIndex = -1
    heading.focus({ preventScroll: true })
    document.title = `${heading.textContent} · Contracting console`
  }
}

const Screens = () => (
  <Shell>
    <Router onLoadEnd={announcePage} onRouteChange={announcePage}>
      <Route path="/console/:tenant" component={Home} />
      <Route path="/console/:tenant/clients" component={Clients} />
      <Route path="/console/:tenant/clients/:id" component={Client} />
      <Route path="/console/:tenant/contracts" component={Contracts} />
      <Route path="/console/:tenant/contracts/:id" component={Contract} />
      <Route path="/console/:tenant/invoices" component={Invoices} />
      <Route path="/console/:tenant/invoices/:id" component={Invoice} />
      <Route path="/console/:tenant/payments" component={Payments} />
      <Route path="/console/:tenant/payments/:id" component={Payment} />
      <Route path="/console/:tenant/credit-notes" component={CreditNotes} />
      <Route path="/console/:tenant/credit-notes/:id" component={CreditNote} />
      <Route path="/console/:tenant/integrations" component={Integrations} />
      <Route path="/console/:tenant/integrations/:id/:tab?" component={Integration} />
      <Route path="/console/:tenant/events" component={Events} />
      <Route path="/console/:tenant/settings/:part?" component={Settings} />
      <Route default component={NotFound} />
    </Router>
  </Shell>
)

const SignedIn = () => {
  const { path, route } = useLocation()
  const named = path.split("/")[2]
  const [first] = tenants.value
  const known = tenants.value.find(({ id }) => id === named)
  useEffect(() => {
    if (known !== undefined) enterTenant(known.id)
    else if (named === undefined && first !== undefined) route(`/console/${first.id}`, true)
  }, [named, known, first, route])
  if (first === undefined) return <FirstTenant />
  if (known === undefined && named !== undefined)
    return (
      <main class="sign-in">
        <Empty title="You are no member of this business">
          <a href="/console">Choose another one</a>
        </Empty>
      </main>
    )
  return tenantId.value === undefined || tenantId.value !== named ? <Loading /> : <Screens />
}

export const App = () => (
  <LocationProvider scope="/console">
    {signInState.value.phase === "ready" ? <SignedIn /> : <SignInPage />}
    <ConflictDialog />
    <Toasts />
  </LocationProvider>
)
