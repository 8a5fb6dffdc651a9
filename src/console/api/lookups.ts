import { type Signal, signal } from "@preact/signals"
import { api, read, type Schemas } from "./client.ts"

/** Reads each resource once, when a row first shows it. */
const makeLookup = <A>(reading: (id: string) => Promise<A>) => {
  const known = new Map<string, Signal<A | undefined>>()
  return {
    get: (id: string) => {
      const found = known.get(id)
      if (found !== undefined) return found.value
      const created = signal<A | undefined>(undefined)
      known.set(id, created)
      // A name that cannot be read stays empty; the list itself reports errors.
      reading(id).then(
        (value) => (created.value = value),
        () => known.delete(id)
      )
      return created.value
    },
    clear: () => known.clear()
  }
}

const clients = makeLookup<Schemas["Client"]>((clientId) =>
  read(api.GET("/api/v1/clients/{clientId}", { params: { path: { clientId } } }))
)
const contracts = makeLookup<Schemas["Contract"]>((contractId) =>
  read(api.GET("/api/v1/contracts/{contractId}", { params: { path: { contractId } } }))
)

const invoices = makeLookup<Schemas["Invoice"]>((invoiceId) =>
  read(api.GET("/api/v1/invoices/{invoiceId}", { params: { path: { invoiceId } } }))
)

export const findClient = clients.get
export const findInvoice = invoices.get
export const findContract = contracts.get

/** The client of a contract. */
export const findClientOf = (contractId: string) => {
  const contract = contracts.get(contractId)
  return contract === undefined ? undefined : clients.get(contract.client)
}

export const clearLookups = () => {
  clients.clear()
  contracts.clear()
  invoices.clear()
}
