/** The message that the page posts to its opener, and the origin of the opener. */
export interface PageData {
  readonly origin?: string
  readonly message?: {
    readonly type: string
    readonly v: number
    readonly status: string
    readonly integrationId: string
    readonly provider: string
    readonly confirmation?: string
    readonly code?: string
  }
}

const embedded = /<script type="application\/json" id="data">(.*?)<\/script>/s

export const parseCallbackPage = ({ text }: { readonly text: string }): PageData => {
  const [, data] = embedded.exec(text) ?? []
  if (data === undefined) throw new Error(`No data in ${text}`)
  return JSON.parse(data)
}
