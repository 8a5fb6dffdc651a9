/** The JSON text of an A, written by someone who knows what an A looks like. */
export class JsonText<out A> {
  readonly text: string
  /** Never there: it ties the text to what it stands for. */
  declare readonly of: A
  constructor(text: string) {
    this.text = text
  }
}
