/** What the process of the victim is told to do. It answers every order, one after the other. */
export type Order =
  | { readonly order: "prepare"; readonly base: string; readonly token: string; readonly invoices: number }
  | { readonly order: "settle" }
  | { readonly order: "begin" }
  | { readonly order: "end" }

/** What the victim noticed between `begin` and `end`: times in milliseconds, and what failed how often. */
export interface Figures {
  readonly reads: ReadonlyArray<number>
  readonly pings: ReadonlyArray<number>
  readonly pdfs: ReadonlyArray<number>
  readonly failures: Readonly<Record<string, number>>
}
