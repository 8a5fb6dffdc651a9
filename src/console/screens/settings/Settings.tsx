import type { FunctionComponent } from "preact"
import { useRoute } from "preact-iso/router"
import { inTenant } from "../../api/session.ts"
import { Page } from "../../ui/Page.tsx"
import { Empty } from "../../ui/State.tsx"
import { Tabs } from "../../ui/Tabs.tsx"
import { Branding } from "./Branding.tsx"
import { Business } from "./Business.tsx"
import { Export } from "./Export.tsx"
import { Members } from "./Members.tsx"
import { NumberSeries } from "./NumberSeries.tsx"
import { TaxRates } from "./TaxRates.tsx"
import { Usage } from "./Usage.tsx"

/** The parts of the settings by the end of their address. */
const parts: ReadonlyArray<readonly [path: string, label: string, component: FunctionComponent]> = [
  ["", "Business", Business],
  ["/logo", "Logo", Branding],
  ["/members", "Members", Members],
  ["/taxes", "Taxes", TaxRates],
  ["/numbers", "Numbers", NumberSeries],
  ["/export", "Export", Export],
  ["/usage", "Usage", Usage]
]

/** Everything that is the same for all invoices of the business, and who works with it. */
export const Settings = () => {
  const { part } = useRoute().params
  const path = part ? `/${part}` : ""
  const Part = parts.find(([known]) => known === path)?.[2]
  return (
    <Page title="Settings">
      <Tabs
        label="Settings"
        current={inTenant(`/settings${path}`)}
        tabs={parts.map(([end, label]) => [inTenant(`/settings${end}`), label])}
      />
      {Part === undefined ? <Empty title="There is no such page" /> : <Part />}
    </Page>
  )
}
