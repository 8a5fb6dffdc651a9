import type { ComponentChildren } from "preact"
import { type ApiFailure, messageOf } from "../api/client.ts"
import { changes } from "../api/query.ts"

export const Loading = ({ label = "Loading" }: { readonly label?: string }) => (
  <div class="state" role="status">
    <span class="spinner" aria-hidden="true" />
    <span>{label}…</span>
  </div>
)

export const Empty = ({ children, title }: { readonly title: string; readonly children?: ComponentChildren }) => (
  <div class="state empty">
    <svg viewBox="0 0 48 48" aria-hidden="true">
      <rect x="9" y="7" width="30" height="34" rx="4" />
      <path d="M16 17h16M16 24h16M16 31h9" />
    </svg>
    <strong>{title}</strong>
    {children !== undefined && <div>{children}</div>}
  </div>
)

const titleOf = ({ status }: ApiFailure) => {
  if (status === 0) return "No connection"
  if (status === 403) return "Your role does not allow this"
  return status === 404 ? "This does not exist" : "Something went wrong"
}

/** A failure instead of a view, with a way to try again. */
export const Failed = ({ failure }: { readonly failure: ApiFailure }) => (
  <div class="state failed" role="alert">
    <strong>{titleOf(failure)}</strong>
    <div>{messageOf(failure)}</div>
    <button type="button" onClick={() => changes.value++}>
      Try again
    </button>
  </div>
)

interface ShownQuery<A> {
  readonly value: A | undefined
  readonly error: ApiFailure | undefined
}

/** A value, or why there is none yet. */
export const Shown = <A,>({
  children,
  query
}: {
  readonly query: ShownQuery<A>
  readonly children: (value: A) => ComponentChildren
}) => {
  if (query.value !== undefined) return <>{children(query.value)}</>
  return query.error === undefined ? <Loading /> : <Failed failure={query.error} />
}
