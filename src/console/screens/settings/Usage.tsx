import { api, read } from "../../api/client.ts"
import { useQuery } from "../../api/query.ts"
import { formatNumber } from "../../ui/format.ts"
import { Section } from "../../ui/Page.tsx"
import { ScrollX } from "../../ui/ScrollX.tsx"
import { Shown } from "../../ui/State.tsx"

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
          <ScrollX label="Limits">
            <table>
              <thead>
                <tr>
                  <th scope="col">Limit</th>
                  <th scope="col" class="right">
                    Used
                  </th>
                  <th scope="col" class="right">
                    At most
                  </th>
                </tr>
              </thead>
              <tbody>
                {limits.map(({ description, max, name, used }) => (
                  <tr key={name}>
                    <th scope="row">{titleOf(description)}</th>
                    <td class="right">{used === undefined ? "—" : formatNumber(used)}</td>
                    <td class="right">{formatNumber(max)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </ScrollX>
        )}
      </Shown>
    </Section>
  )
}
