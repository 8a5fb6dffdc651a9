import { type ComponentChildren, createContext } from "preact"
import { useContext, useId, useRef, useState } from "preact/hooks"
import { ApiFailure } from "../../api/client.ts"
import { type FieldErrors, sortDetails } from "../../api/fieldErrors.ts"
import { notify } from "../Toasts.tsx"

const noErrors: FieldErrors = { byField: new Map(), others: [] }

const FormErrors = createContext<FieldErrors>(noErrors)

export type FormValues = Readonly<Record<string, string>>

interface FormProps {
  readonly submitLabel: string
  /** Sends the form. What the service rejects appears at its field. */
  readonly onSubmit: (values: FormValues) => Promise<void>
  readonly onCancel?: () => void
  readonly children: ComponentChildren
}

const fieldNamesIn = (form: HTMLFormElement) =>
  [...form.elements].flatMap((element) =>
    element instanceof HTMLElement && "name" in element ? [String(element.name)] : []
  )

const focusFirst = (form: HTMLFormElement, { byField }: FieldErrors) => {
  const first = fieldNamesIn(form).find((name) => byField.has(name))
  const element = first === undefined ? null : form.elements.namedItem(first)
  if (element instanceof HTMLElement) element.focus()
}

const valuesOf = (form: HTMLFormElement): FormValues =>
  Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, String(value)]))

const errorsOf = (cause: unknown, form: HTMLFormElement): FieldErrors => {
  if (!(cause instanceof ApiFailure)) return { byField: new Map(), others: [String(cause)] }
  return cause.details.length === 0
    ? { byField: new Map(), others: [cause.message] }
    : sortDetails(cause.details, fieldNamesIn(form))
}

/** A form that is sent once at a time and shows every error where it belongs. */
export const Form = ({ children, onCancel, onSubmit, submitLabel }: FormProps) => {
  const [errors, setErrors] = useState(noErrors)
  const [isSending, setSending] = useState(false)
  // The state of the second click of a double click is still the old one; the reference is not.
  const sending = useRef(false)
  const submit = async (form: HTMLFormElement) => {
    if (sending.current) return
    sending.current = true
    setSending(true)
    setErrors(noErrors)
    try {
      await onSubmit(valuesOf(form))
    } catch (cause) {
      const found = errorsOf(cause, form)
      setErrors(found)
      focusFirst(form, found)
      // Somebody has closed the form while it was sent.
      if (!form.isConnected) notify(cause instanceof Error ? cause.message : String(cause), { isError: true })
    } finally {
      sending.current = false
      setSending(false)
    }
  }
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        void submit(event.currentTarget)
      }}
    >
      <FormErrors.Provider value={errors}>
        {errors.others.length > 0 && (
          <div class="alert bad" role="alert">
            {errors.others.map((text) => (
              <p key={text}>{text}</p>
            ))}
          </div>
        )}
        {children}
      </FormErrors.Provider>
      <footer class="actions">
        {onCancel !== undefined && (
          <button type="button" onClick={onCancel}>
            Cancel
          </button>
        )}
        {/* Its text stays: in a narrower button, the second click of a double click would hit Cancel. */}
        <button type="submit" class="primary" aria-disabled={isSending} aria-busy={isSending}>
          {submitLabel}
        </button>
      </footer>
    </form>
  )
}

/** What the service rejects of a field that is not one of the inputs below. */
export const FieldError = ({ name }: { readonly name: string }) => {
  const error = useContext(FormErrors).byField.get(name)
  return error === undefined ? null : (
    <small class="error" role="alert">
      {error}
    </small>
  )
}

interface FieldProps {
  readonly name: string
  readonly label: ComponentChildren
  readonly hint?: string
  readonly value?: string | number | undefined
  /** For a form that shows something else meanwhile. */
  readonly onInput?: (text: string) => void
  readonly type?: "text" | "email" | "number" | "date" | "search" | "password"
  readonly isRequired?: boolean
  readonly isLong?: boolean
  readonly placeholder?: string
}

/** The parts around every input: label, hint and error, tied together for screen readers. */
const useField = (name: string, hint: string | undefined) => {
  const id = useId()
  const error = useContext(FormErrors).byField.get(name)
  const described = [hint === undefined ? "" : `${id}-hint`, error === undefined ? "" : `${id}-error`].join(" ").trim()
  const attributes = {
    id,
    name,
    "aria-invalid": error !== undefined,
    ...(described === "" ? {} : { "aria-describedby": described })
  }
  const below = (
    <>
      {hint !== undefined && (
        <small id={`${id}-hint`} class="muted">
          {hint}
        </small>
      )}
      {error !== undefined && (
        <small id={`${id}-error`} class="error">
          {error}
        </small>
      )}
    </>
  )
  return { attributes, below, id }
}

export const Field = ({
  hint,
  isLong = false,
  isRequired = false,
  label,
  name,
  onInput,
  placeholder,
  type = "text",
  value
}: FieldProps) => {
  const { attributes, below, id } = useField(name, hint)
  const common = {
    ...attributes,
    defaultValue: value ?? "",
    required: isRequired,
    placeholder,
    onInput: ({ currentTarget }: { readonly currentTarget: HTMLInputElement | HTMLTextAreaElement }) =>
      onInput?.(currentTarget.value)
  }
  return (
    <div class="field">
      <label for={id}>
        {label}
        {isRequired && <span class="muted"> (required)</span>}
      </label>
      {isLong ? <textarea {...common} rows={3} /> : <input {...common} type={type} step="any" autoComplete="off" />}
      {below}
    </div>
  )
}

interface ChoiceProps {
  readonly name: string
  readonly label: string
  readonly hint?: string
  readonly value?: string | undefined
  readonly options: ReadonlyArray<readonly [value: string, label: string]>
  readonly onChoose?: (value: string) => void
  /** More options, such as groups of them. */
  readonly children?: ComponentChildren
}

export const Choice = ({ children, hint, label, name, onChoose, options, value }: ChoiceProps) => {
  const { attributes, below, id } = useField(name, hint)
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select {...attributes} defaultValue={value} onChange={({ currentTarget }) => onChoose?.(currentTarget.value)}>
        {options.map(([key, text]) => (
          <option key={key} value={key} selected={key === value}>
            {text}
          </option>
        ))}
        {children}
      </select>
      {below}
    </div>
  )
}

/** The given values without the empty ones, which a create request leaves out. */
export const filled = <T extends FormValues>(values: T) =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value.trim() !== ""))
