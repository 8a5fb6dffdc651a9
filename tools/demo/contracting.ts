import type { Client, Contract, ContractingClient, Tenant } from "../../dist/client/index.js"
import { drawLogo } from "../walkthrough/logo.ts"
import { clients, type DemoClient, type DemoContract, tenant as demoTenant, members, ownAddress } from "./data.ts"
import { ensure } from "./ensure.ts"

export const ensureTenant = (service: ContractingClient, tenants: ReadonlyArray<Tenant>) =>
  ensure(
    tenants,
    ({ name }) => name === demoTenant.name,
    () => service.tenants.create(demoTenant)
  )

const uploadLogo = async (api: ContractingClient, { id }: Tenant) => {
  const { assetId } = await api.assets.create({
    kind: "BRANDING_LOGO",
    contentType: "image/png",
    originalFileName: "harbour-works.png"
  })
  await api.assets.upload(assetId, await drawLogo())
  await api.assets.complete(assetId)
  await api.tenants.attach(id, "logo", { assetId })
}

/** The logo, address and members of the tenant itself. */
export const ensureOwnData = async (api: ContractingClient, tenant: Tenant) => {
  if (!tenant.media.some(({ slot }) => slot === "logo")) await uploadLogo(api, tenant)
  const addresses = await api.addresses.list().toArray()
  await ensure(
    addresses.filter(({ client }) => client === undefined),
    ({ name }) => name === ownAddress.name,
    () => api.addresses.create(ownAddress)
  )
  const existing = await api.members.list().toArray()
  for (const member of members) {
    const isIt = ({ subject }: { readonly subject: string }) => subject === member.subject
    await ensure(existing, isIt, () => api.members.create(member))
  }
}

const ensureContacts = async (api: ContractingClient, client: Client, given: DemoClient) => {
  const contacts = await api.contacts.list({ clientId: client.id }).toArray()
  for (const { email: address, name, role } of given.contacts) {
    const contact = await ensure(
      contacts,
      (one) => one.name === name,
      () => api.contacts.create({ clientId: client.id, name, role })
    )
    const emails = await api.emails.list({ contactId: contact.id }).toArray()
    const create = () => api.emails.create({ contactId: contact.id, address })
    await ensure(emails, (one) => one.address === address, create)
  }
}

const ensureContract = async (api: ContractingClient, client: Client, given: DemoContract) => {
  const contracts = await api.contracts.list({ clientId: client.id }).toArray()
  const contract = await ensure(
    contracts,
    ({ name }) => name === given.terms.name,
    () => api.contracts.create({ clientId: client.id, ...given.terms })
  )
  const projects = await api.projects.list({ contractId: contract.id }).toArray()
  for (const name of given.projects) {
    const create = () => api.projects.create({ contractId: contract.id, name })
    await ensure(projects, (one) => one.name === name, create)
  }
  return contract
}

export interface EnsuredContract {
  readonly contract: Contract
  readonly given: DemoContract
}

/** The clients with everything below them but invoices. */
export const ensureClients = async (api: ContractingClient) => {
  const existing = await api.clients.list().toArray()
  const contracts: Array<EnsuredContract> = []
  for (const given of clients) {
    const { description, name } = given
    const isIt = (one: Client) => one.name === name
    const client = await ensure(existing, isIt, () => api.clients.create({ name, description }))
    const addresses = await api.addresses.list({ clientId: client.id }).toArray()
    for (const address of given.addresses) {
      const create = () => api.addresses.create({ ...address, clientId: client.id })
      await ensure(addresses, (one) => one.name === address.name, create)
    }
    await ensureContacts(api, client, given)
    for (const contract of given.contracts)
      contracts.push({ contract: await ensureContract(api, client, contract), given: contract })
  }
  return contracts
}
