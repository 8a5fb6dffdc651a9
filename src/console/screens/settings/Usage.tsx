import { api, read } from "../../api/client.ts"
import { useQuery } from "../../api/query.ts"
import { formatNumber } from "../../ui/format.ts"
import { Section } from "../../ui/Page.tsx"
import { Shown } from "../../ui/State.tsx"
import { Table } from "../../ui/Table.tsx"

/** The API describes each limit as a maximum number, which the columns say already. */
const titleOf = (description: string) => {
  const text = description.replace(/^maximum number of /, "")
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** How much the business can have of everything, and how much it has. */
export const Usage = () => {
  const query = useQuery("limits", () => read(api.GET("/api/v1/limits")))
  return (
    <Section title="Usage">
      <Shown query={query}>
        {(limits) => (
          <Table
            label="Limits"
            columns={["Limit", "Used", "At most"]}
            right={["Used", "At most"]}
            rows={limits.map(({ description, max, name, used }) => ({
              key: name,
              cells: [titleOf(description), used === undefined ? "—" : formatNumber(used), formatNumber(max)]
            }))}
          />
        )}
      </Shown>
    </Section>
  )
}
