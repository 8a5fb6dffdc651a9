import type { ComponentChildren } from "preact"

interface Row {
  readonly key: string
  /** The first one names the row. */
  readonly cells: readonly [ComponentChildren, ...ReadonlyArray<ComponentChildren>]
}

interface TableProps {
  readonly label: string
  readonly columns: ReadonlyArray<string>
  /** The columns of numbers. */
  readonly right?: ReadonlyArray<string>
  readonly rows: ReadonlyArray<Row>
}

/** A table that may be wider than the window. It scrolls by itself, with the keyboard too. */
export const Table = ({ columns, label, right = [], rows }: TableProps) => {
  const sides = columns.map((column) => (right.includes(column) ? "right" : undefined))
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable with the keyboard
    <section class="scroll-x" aria-label={label} tabIndex={0}>
      <table>
        <thead>
          <tr>
            {columns.map((column, index) => (
              <th key={column} scope="col" class={sides[index]}>
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ cells: [name, ...values], key }) => (
            <tr key={key}>
              <th scope="row">{name}</th>
              {values.map((value, index) => (
                <td key={columns[index + 1]} class={sides[index + 1]}>
                  {value}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
