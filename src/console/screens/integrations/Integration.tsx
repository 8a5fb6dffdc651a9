import { useState } from "preact/hooks"
import { useRoute } from "preact-iso/router"
import { useQuery } from "../../api/query.ts"
import { hasRole, inTenant } from "../../api/session.ts"
import { useAction } from "../../ui/action.ts"
import { Page } from "../../ui/Page.tsx"
import { Loading, Shown } from "../../ui/State.tsx"
import { Tabs } from "../../ui/Tabs.tsx"
import { Badge, Day } from "../../ui/Value.tsx"
import { Deliveries } from "./deliveries/Deliveries.tsx"
import { Inbound } from "./Inbound.tsx"
import { DeleteDialog, EditDialog, RotateDialog } from "./IntegrationDialogs.tsx"
import { Issues } from "./Issues.tsx"
import {
  type LoadedIntegration,
  pauseIntegration,
  pingIntegration,
  readIntegration,
  resumeIntegration
} from "./integrationApi.ts"
import { authorizeInPopup } from "./popup.ts"
import {
  canPing,
  hasSecret,
  type IntegrationValue,
  isTracker,
  needsAuthorization,
  providers,
  targetOf
} from "./providers.ts"
import { Subscriptions } from "./Subscriptions.tsx"

type Panel = "edit" | "rotate" | "delete" | "popup" | undefined

interface ActionsProps {
  readonly loaded: LoadedIntegration
  readonly onPanel: (panel: Panel) => void
}

const Actions = ({ loaded, onPanel }: ActionsProps) => {
  const { id, isAuthorized, name, provider, status } = loaded.value
  const { isRunning, run } = useAction()
  const authorize = async () => {
    onPanel("popup")
    try {
      return `${(await authorizeInPopup(id)).name} is authorized`
    } finally {
      onPanel(undefined)
    }
  }
  const canAuthorize = needsAuthorization(provider) && status !== "PAUSED"
  return (
    <>
      <button type="button" class="quiet danger" onClick={() => onPanel("delete")}>
        Delete
      </button>
      <button type="button" onClick={() => onPanel("edit")}>
        Edit
      </button>
      {hasSecret(provider) && (
        <button type="button" onClick={() => onPanel("rotate")}>
          {isTracker(provider) ? "New address" : "New secret"}
        </button>
      )}
      {canPing(provider) && status === "ACTIVE" && (
        <button
          type="button"
          aria-disabled={isRunning}
          onClick={() => run(() => pingIntegration(id).then(() => "A ping is on its way"))}
        >
          Ping
        </button>
      )}
      {status === "ACTIVE" && (
        <button
          type="button"
          aria-disabled={isRunning}
          onClick={() => run(async () => (await pauseIntegration(loaded)) && `${name} is paused. Events are kept.`)}
        >
          Pause
        </button>
      )}
      {canAuthorize && (
        <button
          type="button"
          class={isAuthorized ? "" : "primary"}
          aria-disabled={isRunning}
          onClick={() => run(authorize)}
        >
          {isAuthorized ? "Authorize again" : "Authorize"}
        </button>
      )}
      {isAuthorized && (status === "PAUSED" || status === "ERROR") && (
        <button
          type="button"
          class="primary"
          aria-disabled={isRunning}
          onClick={() => run(async () => (await resumeIntegration(loaded)) && `${name} is active again`)}
        >
          Resume
        </button>
      )}
    </>
  )
}

const Facts = ({ value }: { readonly value: IntegrationValue }) => (
  <dl class="facts">
    <div>
      <dt>Kind</dt>
      <dd>{providers[value.provider].label}</dd>
    </div>
    {targetOf(value) !== undefined && (
      <div>
        <dt>{isTracker(value.provider) ? "Site" : "Sends to"}</dt>
        <dd class="breakable">{targetOf(value)}</dd>
      </div>
    )}
    {value.config.jql !== undefined && (
      <div>
        <dt>Filter</dt>
        <dd class="breakable">{value.config.jql}</dd>
      </div>
    )}
    <div>
      <dt>Since</dt>
      <dd>
        <Day at={value.createdAt} />
      </dd>
    </div>
  </dl>
)

/** The parts of an integration, each at an address of its own. The first one has none. */
const tabsOf = (provider: IntegrationValue["provider"]) =>
  isTracker(provider)
    ? ([
        ["", "Inbound webhooks"],
        ["/issues", "Issues"]
      ] as const)
    : ([
        ["", "Deliveries"],
        ["/subscriptions", "Subscriptions"]
      ] as const)

const Part = ({ loaded, tab }: { readonly loaded: LoadedIntegration; readonly tab: string }) => {
  const { id, provider } = loaded.value
  if (isTracker(provider)) return tab === "/issues" ? <Issues integrationId={id} /> : <Inbound integrationId={id} />
  return tab === "/subscriptions" ? <Subscriptions loaded={loaded} /> : <Deliveries integration={loaded.value} />
}

/** One integration: what it is, what it gets, and what came of it. */
export const Integration = () => {
  const { id: integrationId = "", tab: named } = useRoute().params
  const [panel, setPanel] = useState<Panel>(undefined)
  const query = useQuery(`integration ${integrationId}`, () => readIntegration(integrationId))
  const close = () => setPanel(undefined)
  const address = inTenant(`/integrations/${integrationId}`)
  return (
    <Shown query={query}>
      {(loaded) => {
        const { name, provider, status, statusReason } = loaded.value
        const tabs = tabsOf(provider)
        const [tab] = tabs.find(([path]) => path === `/${named ?? ""}`) ?? tabs[0]
        return (
          <Page
            title={
              <>
                {name} <Badge status={status} />
              </>
            }
            parent={[inTenant("/integrations"), "Integrations"]}
            actions={hasRole("ADMIN") && <Actions loaded={loaded} onPanel={setPanel} />}
          >
            {statusReason !== undefined && (
              <div class="alert bad" role="alert">
                {statusReason}
              </div>
            )}
            <Facts value={loaded.value} />
            <Tabs
              label="Parts of the integration"
              tabs={tabs.map(([path, label]) => [address + path, label])}
              current={address + tab}
            />
            <Part loaded={loaded} tab={tab} />
            {panel === "popup" && <Loading label="Waiting for the other window" />}
            {panel === "edit" && <EditDialog loaded={loaded} onClose={close} />}
            {panel === "rotate" && <RotateDialog loaded={loaded} onClose={close} />}
            {panel === "delete" && <DeleteDialog loaded={loaded} onClose={close} />}
          </Page>
        )
      }}
    </Shown>
  )
}
