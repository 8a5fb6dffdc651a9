/** Names the socket of the probe. */
export const heapProbeVariable = "BENCH_HEAP_PROBE"
