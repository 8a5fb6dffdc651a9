/**
 * Every screen except Home, as one chunk: compressed together they are a fifth smaller than each for itself, and after the
 * first of them all others open without a request.
 */
export { Client } from "../screens/clients/Client.tsx"
export { Clients } from "../screens/clients/Clients.tsx"
export { Contract } from "../screens/contracts/Contract.tsx"
export { Contracts } from "../screens/contracts/Contracts.tsx"
export { CreditNote } from "../screens/creditNotes/CreditNote.tsx"
export { CreditNotes } from "../screens/creditNotes/CreditNotes.tsx"
export { Events } from "../screens/events/Events.tsx"
export { Integration } from "../screens/integrations/Integration.tsx"
export { Integrations } from "../screens/integrations/Integrations.tsx"
export { Invoice } from "../screens/invoices/Invoice.tsx"
export { Invoices } from "../screens/invoices/Invoices.tsx"
export { Payment } from "../screens/payments/Payment.tsx"
export { Payments } from "../screens/payments/Payments.tsx"
export { Settings } from "../screens/settings/Settings.tsx"
