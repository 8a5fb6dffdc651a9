/** `slow` answers as it should, a second before senders give up. */
export type Behaviour = "answer" | "hang" | "fail" | "reset" | "slow"

/** What the process of the receivers is told to do. It answers every order, one after the other. */
export type Order =
  | { readonly order: "open"; readonly count: number }
  | { readonly order: "behave"; readonly port: number; readonly as: Behaviour }
  | { readonly order: "count" }
  | { readonly order: "take" }

/** An event that came to a receiver for the first time, in milliseconds of the machine's clock. */
export interface Arrival {
  readonly port: number
  /** When the event happened, as it says itself: just before its commit. */
  readonly happened: number
  readonly at: number
}
