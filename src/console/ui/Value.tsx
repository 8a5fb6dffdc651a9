import { formatDate, formatMoment, formatMoney, formatStatus } from "./format.ts"

/** An amount with its currency. Screen readers get the same text. */
export const Money = ({
  amountMinor,
  currencyCode
}: {
  readonly amountMinor: number
  readonly currencyCode: string
}) => <span class={amountMinor < 0 ? "money negative" : "money"}>{formatMoney(amountMinor, currencyCode)}</span>

/** A day, with the moment and its time zone on hover. */
export const Day = ({ at }: { readonly at: string | undefined }) =>
  at === undefined ? (
    <span class="muted">—</span>
  ) : (
    <time dateTime={at} title={formatMoment(at)}>
      {formatDate(at)}
    </time>
  )

const tones: Readonly<Record<string, string>> = {
  DRAFT: "neutral",
  FINALIZED: "info",
  ACTIVE: "good",
  PAID: "good",
  DELIVERED: "good",
  OVERDUE: "bad",
  ERROR: "bad",
  EXHAUSTED: "bad",
  PAUSED: "warn",
  PENDING_AUTH: "warn"
}

/** A state as a coloured word: never by colour alone. */
export const Badge = ({ status }: { readonly status: string }) => (
  <span class={`badge ${tones[status] ?? "neutral"}`}>{formatStatus(status)}</span>
)
