import type { Metric, Registry } from "prom-client"

interface Options<Label extends string> {
  readonly name: string
  readonly help: string
  readonly labelNames: ReadonlyArray<Label>
  /** Upper bounds in seconds, rising. */
  readonly buckets: ReadonlyArray<number>
  readonly registers: ReadonlyArray<Registry>
}

/** The observations with one value for each label. */
export class DurationSeries {
  readonly labels: Readonly<Record<string, string>>
  readonly counts: Array<number>
  sum = 0
  readonly #bounds: ReadonlyArray<number>

  constructor(labels: Readonly<Record<string, string>>, bounds: ReadonlyArray<number>) {
    this.labels = labels
    this.#bounds = bounds
    // The last one counts what is beyond all bounds.
    this.counts = Array.from({ length: bounds.length + 1 }, () => 0)
  }

  observe(seconds: number) {
    let index = 0
    while (index < this.#bounds.length && seconds > (this.#bounds[index] ?? 0)) index++
    this.counts[index] = (this.counts[index] ?? 0) + 1
    this.sum += seconds
  }
}

/**
 * A histogram for what is observed with every request. That of prom-client looks labels and buckets up by text each time,
 * which costs ten times as much; this one does so when it is exported.
 */
export class DurationHistogram<Label extends string> {
  readonly name: string
  readonly help: string
  readonly type = "histogram"
  readonly aggregator = "sum"
  readonly #labelNames: ReadonlyArray<Label>
  readonly #bounds: ReadonlyArray<number>
  readonly #series: Array<DurationSeries> = []

  constructor({ buckets, help, labelNames, name, registers }: Options<Label>) {
    this.name = name
    this.help = help
    this.#labelNames = labelNames
    this.#bounds = buckets
    // A registry reads `name` and `get` of a metric; the type names the classes of the package.
    for (const registry of registers) registry.registerMetric(this as unknown as Metric)
  }

  /** Adds a series. Ask once for each combination of values, and keep it. */
  series(...values: ReadonlyArray<string>) {
    const labels = Object.fromEntries(this.#labelNames.map((name, index) => [name, values[index] ?? ""]))
    const added = new DurationSeries(labels, this.#bounds)
    this.#series.push(added)
    return added
  }

  #valuesOf({ counts, labels, sum }: DurationSeries) {
    let count = 0
    const buckets = counts.map((inBucket, index) => {
      count += inBucket
      const le = this.#bounds[index] ?? "+Inf"
      return { metricName: `${this.name}_bucket`, labels: { le, ...labels }, value: count }
    })
    return [
      ...buckets,
      { metricName: `${this.name}_sum`, labels, value: sum },
      { metricName: `${this.name}_count`, labels, value: count }
    ]
  }

  async get() {
    return {
      name: this.name,
      help: this.help,
      type: this.type,
      aggregator: this.aggregator,
      values: this.#series.flatMap((series) => this.#valuesOf(series))
    }
  }
}
