import { useState } from "preact/hooks"
import { parseNumber } from "../../../domain/money/AmountParser.ts"
import { type VatCategory, vatCategories } from "../../../domain/money/InvoiceArithmetic.ts"
import { api, type Loaded, load, read, readAll, type Schemas } from "../../api/client.ts"
import { withKey } from "../../api/idempotency.ts"
import { useQuery } from "../../api/query.ts"
import { hasRole } from "../../api/session.ts"
import { ifMatch, updateListed } from "../../api/update.ts"
import { formatNumber } from "../../ui/format.ts"
import { Choice, Field, filled } from "../../ui/forms/Form.tsx"
import { FormDialog } from "../../ui/forms/FormDialog.tsx"
import { Section } from "../../ui/Page.tsx"
import { Empty, Shown } from "../../ui/State.tsx"
import { Badge } from "../../ui/Value.tsx"
import { saveTenant, type Tenant, useTenant } from "./tenantSettings.ts"

type TaxRate = Schemas["TaxRate"]

const categoryNames: Readonly<Record<VatCategory, string>> = {
  S: "VAT, standard or reduced",
  Z: "VAT, zero rate",
  E: "VAT, exempt",
  AE: "VAT, reverse charge",
  K: "VAT, supply within the EU",
  G: "VAT, export",
  O: "Outside the scope of VAT"
}

const noVat = "A tax that is not VAT"

const pathOf = (id: string) => ({ path: { taxRateId: id } })
const readRate = (id: string) => load(api.GET("/api/v1/tax-rates/{taxRateId}", { params: pathOf(id) }))

const readRates = () =>
  readAll((cursor) => api.GET("/api/v1/tax-rates", { params: { query: { ...(cursor && { cursor }) } } }))

const ReasonFields = ({ rate }: { readonly rate?: TaxRate }) => (
  <>
    <Field
      name="exemptionReason"
      label="Reason without tax"
      value={rate?.exemptionReason}
      hint="A sentence on invoices. Required for all VAT but standard and zero rates."
    />
    <Field name="exemptionCode" label="Code of the reason" value={rate?.exemptionCode} placeholder="VATEX-EU-AE" />
  </>
)

const NewRate = ({ onClose }: { readonly onClose: () => void }) => (
  <FormDialog
    title="New tax rate"
    about="Its percentage and its category never change: for another one, archive it and create another rate."
    submitLabel="Create tax rate"
    onClose={onClose}
    onSubmit={async (values) => {
      const { category, name = "", percent = "", ...rest } = filled(values)
      const chosen = vatCategories.find((one) => one === category)
      // The service names the field if the text is no number.
      const body = {
        ...rest,
        name,
        percent: Number(parseNumber(percent) ?? Number.NaN),
        ...(chosen && { category: chosen })
      }
      await withKey("tax rate", (headers) => read(api.POST("/api/v1/tax-rates", { body, headers })))
      return `${name} is created`
    }}
  >
    <Field name="name" label="Name" isRequired hint="As invoices show it." placeholder="VAT 19 %" />
    <div class="field-row">
      <Field name="percent" label="Percent" isRequired />
      <Choice
        name="category"
        label="Kind"
        value="S"
        options={[...vatCategories.map((one) => [one, categoryNames[one]] as const), ["", noVat]]}
      />
    </div>
    <ReasonFields />
  </FormDialog>
)

interface RateDialogProps {
  readonly rate: TaxRate
  readonly onClose: () => void
}

const EditRate = ({ onClose, rate }: RateDialogProps) => (
  <FormDialog
    title="Edit tax rate"
    about="Issued invoices keep the name and the reason that they have."
    submitLabel="Save"
    onClose={onClose}
    onSubmit={async ({ exemptionCode, exemptionReason, name = "" }) => {
      const body = { name, exemptionReason: exemptionReason || null, exemptionCode: exemptionCode || null }
      const saved = await updateListed(
        rate,
        body,
        (headers) => read(api.PATCH("/api/v1/tax-rates/{taxRateId}", { params: pathOf(rate.id), body, headers })),
        () => readRate(rate.id)
      )
      return saved && `${saved.name} is saved`
    }}
  >
    <Field name="name" label="Name" value={rate.name} isRequired />
    <ReasonFields rate={rate} />
  </FormDialog>
)

const ArchiveRate = ({ onClose, rate }: RateDialogProps) => (
  <FormDialog
    title={`Archive ${rate.name}`}
    about="Lines that have it keep it, and nothing new can use it. It cannot be undone."
    submitLabel="Archive"
    onClose={onClose}
    onSubmit={async () => {
      const current = await readRate(rate.id)
      await withKey(`archive ${rate.id}`, (key) =>
        read(
          api.POST("/api/v1/tax-rates/{taxRateId}/archive", {
            params: pathOf(rate.id),
            headers: { ...key, ...ifMatch(current) }
          })
        )
      )
      return `${rate.name} is archived`
    }}
  />
)

interface DefaultsProps {
  readonly loaded: Loaded<Tenant>
  readonly rates: ReadonlyArray<TaxRate>
  readonly onClose: () => void
}

const EditDefaults = ({ loaded, onClose, rates }: DefaultsProps) => (
  <FormDialog
    title="Taxes of new lines"
    about="New lines have these taxes, unless their contract has others. A line has at most three, and one VAT."
    submitLabel="Save"
    onClose={onClose}
    onSubmit={async (values) => {
      const chosen = rates.map(({ id }) => id).filter((id) => values[id] !== undefined)
      const saved = await saveTenant(loaded, { defaultTaxRateIds: chosen.length === 0 ? null : chosen })
      return saved && "The taxes of new lines are saved"
    }}
  >
    <fieldset class="issues">
      <legend>Tax rates</legend>
      {rates.map(({ id, name }) => (
        <label key={id} class="issue">
          <input type="checkbox" name={id} defaultChecked={loaded.value.defaultTaxRates?.includes(id) ?? false} />
          <span>{name}</span>
        </label>
      ))}
    </fieldset>
  </FormDialog>
)

interface RateRowProps {
  readonly rate: TaxRate
  readonly isDefault: boolean
  readonly open: (panel: Panel) => void
}

const RateRow = ({ isDefault, open, rate }: RateRowProps) => (
  <div class="row managed">
    <span class="row-main">
      <strong>{rate.name}</strong>
      <span class="muted">
        {formatNumber(rate.percent)} % · {rate.category === undefined ? noVat : categoryNames[rate.category]}
      </span>
    </span>
    {isDefault && <span class="badge info">New lines</span>}
    {rate.archivedAt !== undefined && <Badge status="ARCHIVED" />}
    {rate.archivedAt === undefined && hasRole("ADMIN") && (
      <>
        <button
          type="button"
          class="quiet"
          aria-label={`Edit ${rate.name}`}
          onClick={() => open({ kind: "edit", rate })}
        >
          Edit
        </button>
        {!isDefault && (
          <button
            type="button"
            class="quiet danger"
            aria-label={`Archive ${rate.name}`}
            onClick={() => open({ kind: "archive", rate })}
          >
            Archive
          </button>
        )}
      </>
    )}
  </div>
)

type Panel = { readonly kind: "new" | "defaults" } | { readonly kind: "edit" | "archive"; readonly rate: TaxRate }

/** The taxes that lines can have, and those that new lines have. */
export const TaxRates = () => {
  const [panel, setPanel] = useState<Panel | undefined>(undefined)
  const tenant = useTenant()
  const query = useQuery("tax rates", readRates)
  const close = () => setPanel(undefined)
  const actions = hasRole("ADMIN") && (
    <div class="actions">
      <button type="button" onClick={() => setPanel({ kind: "defaults" })}>
        Taxes of new lines
      </button>
      <button type="button" class="primary" onClick={() => setPanel({ kind: "new" })}>
        New tax rate
      </button>
    </div>
  )
  return (
    <Section title="Tax rates" action={actions}>
      <Shown query={tenant}>
        {(loaded) => (
          <Shown query={query}>
            {(rates) => (
              <>
                {rates.length === 0 && <Empty title="No tax rate yet">Lines without one have no tax.</Empty>}
                <ul class="rows">
                  {rates.map((rate) => (
                    <li key={rate.id}>
                      <RateRow
                        rate={rate}
                        isDefault={loaded.value.defaultTaxRates?.includes(rate.id) ?? false}
                        open={setPanel}
                      />
                    </li>
                  ))}
                </ul>
                {panel?.kind === "defaults" && (
                  <EditDefaults
                    loaded={loaded}
                    rates={rates.filter(({ archivedAt }) => archivedAt === undefined)}
                    onClose={close}
                  />
                )}
              </>
            )}
          </Shown>
        )}
      </Shown>
      {panel?.kind === "new" && <NewRate onClose={close} />}
      {panel?.kind === "edit" && <EditRate rate={panel.rate} onClose={close} />}
      {panel?.kind === "archive" && <ArchiveRate rate={panel.rate} onClose={close} />}
    </Section>
  )
}
