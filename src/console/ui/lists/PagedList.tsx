import type { ComponentChildren } from "preact"
import type { Pages } from "../../api/query.ts"
import { Empty, Failed, Loading } from "../State.tsx"
import { VirtualList } from "./VirtualList.tsx"

/** As high as `.virtual .row` in the style sheet. */
const rowHeight = 64

interface PagedListProps<A> {
  readonly pages: Pages<A> & { readonly loadMore: () => void }
  readonly label: string
  readonly keyOf: (item: A) => string
  readonly row: (item: A) => ComponentChildren
  readonly empty: ComponentChildren
  readonly onScrolled?: (isAway: boolean) => void
}

/** `Deliveries` as "delivery", `Clients` as "client". */
const singular = (label: string) => label.toLowerCase().replace(/ies$/, "y").replace(/s$/, "")

/** A list that loads its pages as somebody scrolls. */
export const PagedList = <A,>({ empty, keyOf, label, onScrolled, pages, row }: PagedListProps<A>) => {
  if (pages.error !== undefined) return <Failed failure={pages.error} />
  if (pages.items.length === 0)
    return pages.isLoading ? <Loading /> : <Empty title={`No ${label.toLowerCase()} found`}>{empty}</Empty>
  return (
    <div class="card flush">
      <VirtualList
        items={pages.items}
        rowHeight={rowHeight}
        label={label}
        keyOf={keyOf}
        row={row}
        onEnd={pages.loadMore}
        onScrolled={onScrolled}
      />
      <p class="count muted" role="status">
        {pages.items.length}
        {pages.hasMore ? "+" : ""} {pages.items.length === 1 ? singular(label) : label.toLowerCase()}
      </p>
    </div>
  )
}
