import { formatDate, formatMoment, formatMoney, formatStatus, formatTime } from "./format.ts"

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

/** A moment to the second, with its time zone on hover. */
export const Time = ({ at }: { readonly at: string }) => (
  <time dateTime={at} title={formatMoment(at)}>
    {formatTime(at)}
  </time>
)

const tones: Readonly<Record<string, string>> = {
  DRAFT: "neutral",
  FINALIZED: "info",
  ACTIVE: "good",
  PAID: "good",
  DELIVERED: "good",
  DONE: "good",
  PENDING: "info",
  RECEIVED: "info",
  OVERDUE: "bad",
  ERROR: "bad",
  EXHAUSTED: "bad",
  FAILED: "bad",
  LOST: "warn",
  UNCERTAIN: "warn",
  PAUSED: "warn",
  PENDING_AUTH: "warn"
}

/** A state as a coloured word: never by colour alone. */
export const Badge = ({ status }: { readonly status: string }) => (
  <span class={`badge ${tones[status] ?? "neutral"}`}>{formatStatus(status)}</span>
)
