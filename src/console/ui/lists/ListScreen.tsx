import type { ComponentChildren } from "preact"
import type { Loaded } from "../../api/client.ts"
import { usePages } from "../../api/query.ts"
import { tenantId } from "../../api/session.ts"
import { Page } from "../Page.tsx"
import { PagedList } from "./PagedList.tsx"

interface ListScreenProps<A, Q> {
  readonly title: string
  readonly actions?: ComponentChildren
  readonly filters: ComponentChildren
  /** What the address asks for. Another query is another list. */
  readonly query: Q
  readonly readPage: (query: Q & { readonly cursor?: string }) => Promise<Loaded<ReadonlyArray<A>>>
  readonly empty: ComponentChildren
  readonly row: (item: A) => ComponentChildren
}

/** A screen with one list of the tenant, its filters and what one can do. */
export const ListScreen = <A extends { readonly id: string }, Q extends object>(props: ListScreenProps<A, Q>) => {
  const { actions, empty, filters, query, readPage, row, title } = props
  const pages = usePages(`${title} ${tenantId.value} ${JSON.stringify(query)}`, (cursor) =>
    readPage({ ...query, ...(cursor && { cursor }) })
  )
  return (
    <Page title={title} actions={actions}>
      <search class="filters">{filters}</search>
      <PagedList pages={pages} label={title} keyOf={({ id }) => id} empty={empty} row={row} />
    </Page>
  )
}
