/** A command to the victim process, which executes commands one after the other. */
export type VictimCommand =
  | { readonly command: "prepare"; readonly baseUrl: string; readonly token: string; readonly invoiceCount: number }
  | { readonly command: "waitUntilPrompt" }
  | { readonly command: "startMeasurement" }
  | { readonly command: "stopMeasurement" }

/** Latencies in milliseconds, and the number of failures by kind. */
export interface Measurements {
  readonly reads: ReadonlyArray<number>
  readonly pings: ReadonlyArray<number>
  readonly pdfs: ReadonlyArray<number>
  readonly failures: Readonly<Record<string, number>>
}
