/** `slow` answers as it should, a second before senders give up. */
export type Behaviour = "answer" | "hang" | "fail" | "reset" | "slow"

/** What the process of the receivers is told to do. It answers every order, one after the other. */
export type ReceiverCommand =
  | { readonly command: "open"; readonly count: number }
  | { readonly command: "behave"; readonly port: number; readonly behaviour: Behaviour }
  | { readonly command: "count" }
  | { readonly command: "take" }

/** An event that came to a receiver for the first time, in milliseconds of the machine's clock. */
export interface Arrival {
  readonly port: number
  /** When the event happened, as it says itself: just before its commit. */
  readonly occurredAt: number
  readonly arrivedAt: number
}
