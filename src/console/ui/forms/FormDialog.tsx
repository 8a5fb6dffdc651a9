import type { ComponentChildren } from "preact"
import { changes } from "../../api/query.ts"
import { notify } from "../Toasts.tsx"
import { Dialog } from "./Dialog.tsx"
import { Form, type FormValues } from "./Form.tsx"

interface FormDialogProps {
  readonly title: string
  readonly submitLabel: string
  readonly onClose: () => void
  /** Sends the form, and may return a sentence that says what has happened. */
  readonly onSubmit: (values: FormValues) => Promise<string | undefined>
  /** What the person should know before the fields. */
  readonly about?: ComponentChildren
  readonly isWide?: boolean
  readonly children?: ComponentChildren
}

/** A form in a dialog. After it has succeeded, the views read again and the dialog is closed. */
export const FormDialog = ({ about, children, isWide, onClose, onSubmit, submitLabel, title }: FormDialogProps) => (
  <Dialog title={title} onClose={onClose} isWide={isWide ?? false}>
    {about !== undefined && <p>{about}</p>}
    <Form
      submitLabel={submitLabel}
      onCancel={onClose}
      onSubmit={async (values) => {
        const text = await onSubmit(values)
        changes.value++
        onClose()
        if (text !== undefined) notify(text)
      }}
    >
      {children}
    </Form>
  </Dialog>
)
