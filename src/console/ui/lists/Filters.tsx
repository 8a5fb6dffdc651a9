import { useEffect, useRef } from "preact/hooks"
import { useLocation } from "preact-iso/router"
import { formatStatus } from "../format.ts"

const typingPauseMs = 250

/** The filters of a list live in the address, so that a filtered list can be linked and Back works. */
export const useFilters = () => {
  const { path, query, route } = useLocation()
  /** The address with these filters instead. */
  const hrefWith = (values: Readonly<Record<string, string>>) => {
    const next = new URLSearchParams(query)
    for (const [name, value] of Object.entries(values)) {
      if (value === "") next.delete(name)
      else next.set(name, value)
    }
    const search = next.toString()
    return search === "" ? path : `${path}?${search}`
  }
  const setFilters = (values: Readonly<Record<string, string>>) => route(hrefWith(values), true)
  const setFilter = (name: string, value: string) => setFilters({ [name]: value })
  return { filters: query, hrefWith, setFilter, setFilters }
}

interface SearchInputProps {
  readonly label: string
  readonly value: string | undefined
  readonly onSearch: (text: string) => void
}

/** Searches while somebody types. */
export const SearchInput = ({ label, onSearch, value = "" }: SearchInputProps) => {
  const timer = useRef(0)
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => () => clearTimeout(timer.current), [])
  useEffect(() => {
    if (input.current !== null && document.activeElement !== input.current) input.current.value = value
  }, [value])
  return (
    <input
      ref={input}
      type="search"
      aria-label={label}
      placeholder={label}
      defaultValue={value}
      onInput={({ currentTarget }) => {
        clearTimeout(timer.current)
        const text = currentTarget.value.trim()
        timer.current = window.setTimeout(() => onSearch(text), typingPauseMs)
      }}
    />
  )
}

/** Searches a list by the text in the address. */
export const SearchFilter = ({ label }: { readonly label: string }) => {
  const { filters, setFilter } = useFilters()
  return <SearchInput label={label} value={filters["q"]} onSearch={(text) => setFilter("q", text)} />
}

interface ChoiceFilterProps {
  readonly label: string
  readonly value: string | undefined
  readonly options: ReadonlyArray<readonly [value: string, label: string]>
  readonly onChoose: (value: string) => void
}

export const ChoiceFilter = ({ label, onChoose, options, value = "" }: ChoiceFilterProps) => (
  <select aria-label={label} value={value} onChange={({ currentTarget }) => onChoose(currentTarget.value)}>
    {options.map(([key, text]) => (
      <option key={key} value={key}>
        {text}
      </option>
    ))}
  </select>
)

/** The choices of a filter by status. */
export const statusOptions = (statuses: ReadonlyArray<string>) => [
  ["", "Every status"] as const,
  ...statuses.map((status) => [status, formatStatus(status)] as const)
]

/** Filters a list by the status in the address. */
export const StatusFilter = ({ statuses }: { readonly statuses: ReadonlyArray<string> }) => {
  const { filters, setFilter } = useFilters()
  return (
    <ChoiceFilter
      label="Status"
      value={filters["status"]}
      options={statusOptions(statuses)}
      onChoose={(value) => setFilter("status", value)}
    />
  )
}

type Filters = Readonly<Record<string, string>>

/** The status in the address as a part of a query. One that the list does not have is left out. */
export const statusQuery = <S extends string>({ status }: Filters, statuses: ReadonlyArray<S>): { status?: S } => {
  const known = statuses.find((one) => one === status)
  return known === undefined ? {} : { status: known }
}

/** The API searches texts of at least two characters. */
export const minSearchLength = 2

/** The text in the address as a part of a query. */
export const searchQuery = ({ q }: Filters): { q?: string } => (q && q.length >= minSearchLength ? { q } : {})

interface DayFilterProps {
  readonly label: string
  readonly name: string
  /** The day that holds without one in the address. */
  readonly value?: string
}

/** Filters by a day, which lives in the address under this name. */
export const DayFilter = ({ label, name, value }: DayFilterProps) => {
  const { filters, setFilter } = useFilters()
  return (
    <label class="inline-field">
      {label}
      <input
        type="date"
        value={filters[name] ?? value}
        onChange={({ currentTarget }) => setFilter(name, currentTarget.value)}
      />
    </label>
  )
}
