/** The ISO 4217 currencies with other than two decimals. A browser's own list differs from the standard. */
const exceptions: Readonly<Record<number, string>> = {
  0: "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF",
  3: "BHD IQD JOD KWD LYD OMR TND",
  4: "CLF UYW"
}

const decimalsByCode: ReadonlyMap<string, number> = new Map(
  Object.entries(exceptions).flatMap(([decimals, codes]) =>
    codes.split(" ").map((code): [string, number] => [code, Number(decimals)])
  )
)

/** Number of decimals of a currency: 2 for EUR, 0 for JPY, 3 for KWD. */
export const currencyDecimals = (code: string) => decimalsByCode.get(code) ?? 2
