import { useEffect, useState } from "preact/hooks"
import { readFile, type Schemas } from "../../api/client.ts"
import { useQuery } from "../../api/query.ts"
import { saveFile } from "../../ui/download.ts"
import { Shown } from "../../ui/State.tsx"

/** The address of a blob as long as the view lives. */
const useBlobUrl = (file: Blob) => {
  const [url, setUrl] = useState<string | undefined>(undefined)
  useEffect(() => {
    const created = URL.createObjectURL(file)
    setUrl(created)
    return () => URL.revokeObjectURL(created)
  }, [file])
  return url
}

const Frame = ({ file, name }: { readonly file: Blob; readonly name: string }) => {
  const url = useBlobUrl(file)
  return (
    <>
      <iframe class="pdf" title={`PDF of ${name}`} src={url} />
      <button type="button" onClick={() => saveFile(file, `${name}.pdf`)}>
        Download PDF
      </button>
    </>
  )
}

/** The document as the client gets it. A draft has a mark. */
export const PdfPreview = ({ invoice: { id, invoiceNumber, updatedAt } }: { readonly invoice: Schemas["Invoice"] }) => {
  const query = useQuery(`pdf ${id} ${updatedAt}`, () => readFile(`/api/v1/invoices/${id}/pdf`))
  return (
    <aside class="card preview" aria-label="Preview">
      <Shown query={query}>{(file) => <Frame file={file} name={invoiceNumber ?? "Draft"} />}</Shown>
    </aside>
  )
}
