import { eventActions } from "../../../domain/events/EventActions.ts"
import type { Schemas } from "../../api/client.ts"

const patterns = new Set(
  Object.entries(eventActions).flatMap(([resource, actions]) => ["*", ...actions].map((one) => `${resource}.${one}`))
)

/** Whether an address or a form names a type of events, or all of a resource. */
export const isEventPattern = (text: string | undefined): text is Schemas["EventPattern"] =>
  text !== undefined && patterns.has(text)

/** The types of events as options of a select, grouped by resource. */
export const EventTypeOptions = () => (
  <>
    {Object.entries(eventActions).map(([resource, actions]) => (
      <optgroup key={resource} label={resource.replaceAll("_", " ")}>
        <option value={`${resource}.*`}>{resource}.*</option>
        {actions.map((action) => (
          <option key={action} value={`${resource}.${action}`}>
            {resource}.{action}
          </option>
        ))}
      </optgroup>
    ))}
  </>
)

interface EventTypeFilterProps {
  readonly value: string | undefined
  readonly onChoose: (type: string) => void
}

export const EventTypeFilter = ({ onChoose, value = "" }: EventTypeFilterProps) => (
  <select aria-label="Event type" value={value} onChange={({ currentTarget }) => onChoose(currentTarget.value)}>
    <option value="">Every event type</option>
    <EventTypeOptions />
  </select>
)
