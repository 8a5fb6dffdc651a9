import { conflict } from "../api/update.ts"
import { Dialog } from "./Dialog.tsx"
import { ScrollX } from "./ScrollX.tsx"

const shown = (value: unknown) =>
  value === undefined ? "—" : typeof value === "object" ? JSON.stringify(value) : String(value)

/** Shows what another person has changed, and asks whether to apply our change to it. */
export const ConflictDialog = () => {
  const current = conflict.value
  if (current === undefined) return null
  return (
    <Dialog title="Somebody else was faster" onClose={() => current.resolve(false)}>
      <p>This was changed after you opened it. Your change is not saved yet.</p>
      <ScrollX label="Changes">
        <table>
          <thead>
            <tr>
              <th scope="col">Field</th>
              <th scope="col">When you opened it</th>
              <th scope="col">Now</th>
              <th scope="col">Your change</th>
            </tr>
          </thead>
          <tbody>
            {current.fields.map(({ before, field, mine, theirs }) => (
              <tr key={field}>
                <th scope="row">{field}</th>
                <td>{shown(before)}</td>
                <td>
                  <mark>{shown(theirs)}</mark>
                </td>
                <td>{shown(mine)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollX>
      <footer class="actions">
        <button type="button" onClick={() => current.resolve(false)}>
          Keep theirs
        </button>
        <button type="button" class="primary" onClick={() => current.resolve(true)}>
          Apply my change
        </button>
      </footer>
    </Dialog>
  )
}
