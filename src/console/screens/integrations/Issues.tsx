import { api, load, type Schemas } from "../../api/client.ts"
import { usePages } from "../../api/query.ts"
import { ChoiceFilter, SearchInput, useFilters } from "../../ui/lists/Filters.tsx"
import { PagedList } from "../../ui/lists/PagedList.tsx"
import { Day } from "../../ui/Value.tsx"

type Issue = Schemas["TrackedIssue"]

const billing = [
  ["", "Billed or not"],
  ["false", "Not billed"],
  ["true", "Billed"]
] as const

const toQuery = ({ billed, key }: Readonly<Record<string, string>>) => ({
  limit: 100,
  ...(billed === "true" || billed === "false" ? { billed: billed === "true" } : {}),
  ...(key ? { key } : {})
})

/** The tracker sends the address. Anything but a web page must not become a link. */
const isWebAddress = (url: string | undefined): url is string => url !== undefined && /^https?:\/\//.test(url)

const IssueRow = ({ issue: { isDeleted, issueKey, state, title, updatedAt, url } }: { readonly issue: Issue }) => {
  const content = (
    <>
      <span class="row-main">
        <strong>{issueKey}</strong>
        <span class="muted">{title}</span>
      </span>
      <span class="muted wide-only">
        changed <Day at={updatedAt} />
      </span>
      <span class="row-side">
        <span class={isDeleted ? "badge bad" : "badge neutral"}>{isDeleted ? "Deleted" : (state ?? "—")}</span>
      </span>
    </>
  )
  return isWebAddress(url) ? (
    <a class="row" href={url} target="_blank" rel="noreferrer">
      {content}
    </a>
  ) : (
    <div class="row">{content}</div>
  )
}

/** The issues of a tracker, as its last webhooks described them. */
export const Issues = ({ integrationId }: { readonly integrationId: string }) => {
  const { filters, setFilter } = useFilters()
  const query = toQuery(filters)
  const pages = usePages(`issues ${integrationId} ${JSON.stringify(query)}`, (cursor) =>
    load(
      api.GET("/api/v1/integrations/{integrationId}/issues", {
        params: { path: { integrationId }, query: { ...query, ...(cursor && { cursor }) } }
      })
    )
  )
  return (
    <>
      <search class="filters">
        <SearchInput
          label="Key, such as NORTH-318"
          value={filters["key"]}
          onSearch={(text) => setFilter("key", text.toUpperCase())}
        />
        <ChoiceFilter
          label="Billing"
          value={filters["billed"]}
          options={billing}
          onChoose={(value) => setFilter("billed", value)}
        />
      </search>
      <PagedList
        pages={pages}
        label="Issues"
        keyOf={({ id }) => id}
        empty="The tracker sends an issue when it changes."
        row={(issue) => <IssueRow issue={issue} />}
      />
    </>
  )
}
