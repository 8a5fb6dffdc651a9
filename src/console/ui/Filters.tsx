import { useEffect, useRef } from "preact/hooks"
import { useLocation } from "preact-iso/router"

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

interface SearchFilterProps {
  readonly label: string
  readonly value: string | undefined
  readonly onSearch: (text: string) => void
}

/** Searches while somebody types. */
export const SearchFilter = ({ label, onSearch, value = "" }: SearchFilterProps) => {
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

interface DayFilterProps {
  readonly label: string
  readonly value: string | undefined
  readonly onChoose: (day: string) => void
}

export const DayFilter = ({ label, onChoose, value }: DayFilterProps) => (
  <label class="inline-field">
    {label}
    <input type="date" value={value ?? ""} onChange={({ currentTarget }) => onChoose(currentTarget.value)} />
  </label>
)
