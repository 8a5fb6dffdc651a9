import { useEffect, useState } from "preact/hooks"
import { readFile } from "../api/client.ts"
import { useQuery } from "../api/query.ts"
import { saveFile } from "./download.ts"
import { Shown } from "./State.tsx"

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

interface PdfPreviewProps {
  /** Where the API serves the file. */
  readonly path: string
  readonly name: string
  /** Another version is read again. */
  readonly version: string
}

/** The document as the client gets it. A draft has a mark. */
export const PdfPreview = ({ name, path, version }: PdfPreviewProps) => {
  const query = useQuery(`pdf ${path} ${version}`, () => readFile(path))
  return (
    <aside class="card preview" aria-label="Preview">
      <Shown query={query}>{(file) => <Frame file={file} name={name} />}</Shown>
    </aside>
  )
}
